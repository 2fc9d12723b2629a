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

/** Enough for an undo of some hundred links, so that the answer shows its end. */
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

  /** Runs one schedule at a time, and makes it poll now for new and canceled imports. */
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
    /** Runs the waiting imports of this node. @throws Failure `unavailable` */
    run,
    /** Ignores failures, because the job runs each second and reports them. */
    wakeRunner: () => void run().catch(() => {}),
    async waitForEnd({ workspaceId }: Pick<Actor, 'workspaceId'>, id: number, waitMs = END_WAIT_MS) {
      const end = performance.now() + waitMs
      while (performance.now() < end) {
        const row = await findImportRow(needs.db.read, { id, workspace_id: workspaceId })
        if (!row || !isOpen(row)) return
        await Bun.sleep(POLL_MS)
      }
    },
    /** Erases the click histories of undone imports from the hits of this node. */
    eraseHistories: () => eraseUndoneHistories(needs),
    pruneFiles: () => pruneImportFiles(needs),
    failAbandoned: () => failAbandonedImports(needs, startedAt),
    metrics: metrics.read,
    /** Inspections use these too. */
    sliceMs: needs.sliceMs,
    deadlineMs: needs.deadlineMs,
    startReader: needs.startReader,
    /** Interrupts running imports, which continue after the next start. */
    async stop() {
      controller.abort(new Error('The server stops'))
      await running?.catch(() => {})
    },
  }
}
