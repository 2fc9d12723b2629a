// The doctor inside a server: one run at a time. A report is reused for some seconds.

import type { DoctorFinding } from '../finding.ts'
import type { DoctorNeeds } from '../needs.ts'
import type { DoctorReport } from '../schema.ts'
import { CHECKS } from './check-list.ts'
import { runChecks, toReport } from './run-checks.ts'

export interface Doctor {
  /** Runs the checks, unless a report is young enough. */
  getReport(): Promise<DoctorReport>
  /** Checks that only this process can make. */
  listOwnFindings(): Promise<DoctorFinding[]>
}

/** Reports may be asked for at any rate, and a run reads all hits. */
const HOLDS_MS = 10_000

export function createDoctor(needs: DoctorNeeds): Doctor {
  const run = async (checks = CHECKS) => toReport(await runChecks(needs, checks), needs.now())
  const own = CHECKS.filter(({ isOfServer }) => isOfServer)
  return {
    getReport: shareRuns(() => run(), HOLDS_MS),
    // The operator has just mended something, and looks again.
    listOwnFindings: shareRuns(() => runChecks(needs, own), 0),
  }
}

/** Callers during a run, and for a while after it, get its result. */
function shareRuns<T>(run: () => Promise<T>, holdsMs: number): () => Promise<T> {
  let last: Promise<T> | undefined
  return () => {
    if (last) return last
    const started = run()
    last = started
    const drop = () => {
      last = undefined
    }
    started.then(() => setTimeout(drop, holdsMs).unref(), drop)
    return started
  }
}
