// Opens what watches the server itself: counts of requests, the process, its event loop, commits, and traces.

import type { Config } from './config.ts'
import type { Metric } from './http/health-and-metrics.ts'
import { toCommitMetrics } from './http/telemetry/commit-metrics.ts'
import type { ObserverNeeds } from './http/telemetry/observe-requests.ts'
import { openTracing } from './http/telemetry/open-tracing.ts'
import { openProcessMetrics } from './http/telemetry/process-metrics.ts'
import { createRequestMetrics } from './http/telemetry/request-metrics.ts'
import { createWatchdog } from './http/telemetry/watchdog.ts'
import type { DatabaseHandle } from './storage/database/open-database.ts'
import { VERSION } from './version.ts'

export interface Observability {
  /** For the handlers of requests. */
  observer: ObserverNeeds
  metrics(): Metric[]
  /** Call it when the server listens: what opens the stores may hold the event loop. */
  watchLoop(): void
  close(): Promise<void>
}

export async function openObservability(
  { tracing: settings, slowRequestMs, trustProxy }: Config,
  db: DatabaseHandle,
  node: string,
): Promise<Observability> {
  const tracing = await openTracing(settings, { version: VERSION, node, part: 'server' })
  const watchdog = createWatchdog()
  const ownProcess = openProcessMetrics(VERSION, watchdog.noteTurn)
  const requests = createRequestMetrics()
  return {
    observer: { requests, slowRequestMs, trustProxy },
    metrics: () => [
      ...ownProcess.metrics(),
      ...watchdog.metrics(),
      ...requests.metrics(),
      ...toCommitMetrics(db.readCommitStats()),
    ],
    watchLoop: watchdog.start,
    async close() {
      watchdog.close()
      ownProcess.close()
      await tracing?.close()
    },
  }
}
