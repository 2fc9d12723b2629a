// Runs the exports of an engine, and ends them when the engine closes.

import { unavailable } from '../../lib/failure.ts'
import type { ExportedFile, HitExport } from './hit-engine.ts'

type ExportRunner = (request: HitExport, signal: AbortSignal) => Promise<ExportedFile>

export interface ClickExporter {
  /** @throws when `signal` aborts, the exporter is closed, or the disk has too little room */
  run: ExportRunner
  /** Ends the exports that run. */
  close(): Promise<void>
}

export function openClickExporter(runExport: ExportRunner): ClickExporter {
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    async run(request, signal) {
      const exporting = runExport(request, AbortSignal.any([signal, closing.signal]))
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
