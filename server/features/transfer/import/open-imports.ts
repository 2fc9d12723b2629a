// Opens the imports of a server: runs them, and lets requests wait for the end of one.

import type { Actor } from '../../accounts/access/actor.ts'
import { eraseUndoneHistories } from '../history/erase-imported-clicks.ts'
import { createImportMetrics } from './import-metrics.ts'
import { createUploadRooms } from './import-room.ts'
import { findImportRow, isOpen } from './import-row.ts'
import type { RunnerNeeds } from './import-runner.ts'
import { createImportSchedule, runImports, wakeSchedule } from './import-schedule.ts'
import { failAbandonedImports, pruneImportFiles } from './prune-imports.ts'

export type ImportService = ReturnType<typeof openImports>

/** An undo of some hundred links is done by then, and its answer says so. */
const END_WAIT_MS = 2_000
const POLL_MS = 25

export type ImportServiceNeeds = Omit<RunnerNeeds, 'metrics'>

export function openImports(needs: ImportServiceNeeds) {
  const controller = new AbortController()
  const metrics = createImportMetrics()
  const startedAt = needs.now()
  const schedule = createImportSchedule({ ...needs, metrics }, controller.signal)
  let running: Promise<void> | undefined
  let isWanted = false

  /** One schedule runs at a time. It looks at once for what is new, canceled ones too. */
  function run(): Promise<void> {
    isWanted = true
    wakeSchedule(schedule)
    running ??= runWhileWanted().finally(() => {
      running = undefined
    })
    return running
  }

  async function runWhileWanted() {
    while (isWanted && !controller.signal.aborted) {
      isWanted = false
      await runImports(schedule)
    }
  }

  return {
    openRoom: createUploadRooms(needs),
    /** Runs what waits on this node. @throws Failure `unavailable` */
    run,
    /** A failure of it is the job's, which runs each second. */
    wakeRunner: () => void run().catch(() => {}),
    async waitForEnd({ workspaceId }: Pick<Actor, 'workspaceId'>, id: number, waitMs = END_WAIT_MS) {
      const end = performance.now() + waitMs
      while (performance.now() < end) {
        const row = await findImportRow(needs.db.read, { id, workspace_id: workspaceId })
        if (!row || !isOpen(row)) return
        await Bun.sleep(POLL_MS)
      }
    },
    /** Takes the click histories of undone imports off the hits that this node has. */
    eraseHistories: () => eraseUndoneHistories(needs),
    pruneFiles: () => pruneImportFiles(needs),
    failAbandoned: () => failAbandonedImports(needs, startedAt),
    metrics: metrics.read,
    /** They hold for inspections too. */
    sliceMs: needs.sliceMs,
    deadlineMs: needs.deadlineMs,
    startReader: needs.startReader,
    /** Interrupts what runs. It goes on with the next start. */
    async stop() {
      controller.abort(new Error('The server stops'))
      await running?.catch(() => {})
    },
  }
}
