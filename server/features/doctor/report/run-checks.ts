// Runs checks side by side, each for a limited time, and makes a report of their findings. A check that fails is a
// finding, and ends no other check.

import { withTimeout } from '../../../lib/concurrency/with-timeout.ts'
import { toIso } from '../../../lib/iso-time.ts'
import type { DoctorFinding, FindingStatus } from '../finding.ts'
import { type DoctorNeeds, RowStoreAway } from '../needs.ts'
import type { DoctorReport, ReportedFinding } from '../schema.ts'
import { CHECKS, type Check, ROW_CHECK } from './check-list.ts'

/** All checks together take less than ten seconds. */
const CHECK_MS = 9_000

/** @returns the findings in the order of the list */
export async function runChecks(
  needs: DoctorNeeds,
  checks: readonly Check[] = CHECKS,
): Promise<DoctorFinding[]> {
  const findings = await Promise.all(checks.map((check) => runCheck(needs, check)))
  return findings.flat()
}

async function runCheck(needs: DoctorNeeds, { name, run }: Check): Promise<DoctorFinding[]> {
  const late = (): DoctorFinding[] => [
    { check: name, status: 'skipped', summary: `It was not done within ${CHECK_MS / 1000} seconds.` },
  ]
  try {
    const results = run(needs).then((found) => found.map((result) => ({ check: name, ...result })))
    return await withTimeout(results, CHECK_MS, late)
  } catch (error) {
    if (error instanceof RowStoreAway && name !== ROW_CHECK)
      return [{ check: name, status: 'skipped', summary: 'The row store cannot be read.' }]
    return [{ check: name, status: 'problem', ...explainFailure(error) }]
  }
}

/** An error of a store is a sentence for the operator. */
function explainFailure(error: unknown): Pick<DoctorFinding, 'summary' | 'fix'> {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  const reason = cause instanceof Error ? `${message} (${cause.message})` : message
  // The other lines of a driver's error show its statement.
  const [sentence = ''] = reason.split('\n')
  return {
    summary: `It cannot be checked: ${sentence}`,
    fix: 'Fix this problem, and check again.',
  }
}

export function toReport(findings: DoctorFinding[], now: number): DoctorReport {
  return { status: findWorst(findings), checkedAt: toIso(now), findings: findings.map(describe) }
}

function describe({ check: name, status, summary, fix }: DoctorFinding): ReportedFinding {
  const check = CHECKS.find((each) => each.name === name)
  return {
    check: name,
    title: check?.title ?? name,
    group: check?.group ?? '',
    status,
    summary,
    fix: fix ?? null,
  }
}

function findWorst(findings: DoctorFinding[]): DoctorReport['status'] {
  const has = (status: FindingStatus) => findings.some((finding) => finding.status === status)
  if (has('problem')) return 'problem'
  return has('warning') ? 'warning' : 'ok'
}
