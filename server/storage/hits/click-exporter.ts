// Runs the exports of an engine, and aborts them when the engine closes.

import { createSerialQueue } from '../../lib/concurrency/serial-queue.ts'
import { unavailable } from '../../lib/failure.ts'
import type { ExportedFile, HitExport } from './hit-engine.ts'

type ExportRunner = (request: HitExport, signal: AbortSignal) => Promise<ExportedFile>
/** Runs a statement of an export in its turn, unless the export was aborted. */
export type StatementRunner = <T>(work: () => Promise<T>) => Promise<T>

export interface ClickExporter {
  /** @throws when `signal` aborts, the exporter is closed, or the disk has too little space */
  run: ExportRunner
  /** Aborts the running exports. */
  close(): Promise<void>
}

/** @param runExport runs each statement of DuckDB with `run`, so that all exports together have one at a time */
export function openClickExporter(
  runExport: (request: HitExport, signal: AbortSignal, run: StatementRunner) => Promise<ExportedFile>,
): ClickExporter {
  // Native work has two threads. Exports use one, so the other one is free for questions, loads and files.
  const statements = createSerialQueue()
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    async run(request, signal) {
      const either = AbortSignal.any([signal, closing.signal])
      const exporting = runExport(request, either, (work) =>
        statements(async () => {
          either.throwIfAborted()
          return work()
        }),
      )
      running.add(exporting)
      try {
        return await exporting
      } finally {
        running.delete(exporting)
      }
    },
    async close() {
      closing.abort(unavailable('The hit engine is closed', 1))
      await Promise.allSettled(running)
    },
  }
}
