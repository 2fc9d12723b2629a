// Watches the server itself (requests, the process, its event loop, commits, traces), and collects the metrics of all parts
// of a server.

import type { Config } from '../config/config.ts'
import { VERSION } from '../config/version.ts'
import type { Metric } from '../http/health-and-metrics.ts'
import { toCommitMetrics } from '../http/telemetry/commit-metrics.ts'
import { gauge } from '../http/telemetry/metric.ts'
import type { ObserverNeeds } from '../http/telemetry/observe-requests.ts'
import { openTracing } from '../http/telemetry/open-tracing.ts'
import { openProcessMetrics } from '../http/telemetry/process-metrics.ts'
import { createRequestMetrics } from '../http/telemetry/request-metrics.ts'
import { createWatchdog } from '../http/telemetry/watchdog.ts'
import type { DatabaseHandle } from '../storage/database/open-database.ts'

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

export interface MetricsNeeds {
  node: string
  /** Where several processes share the ports of a machine: the number of this one, and the metrics of the others. */
  worker?: { number: number; readSiblings(): Promise<Metric[]> }
  readers: (() => Metric[])[]
}

export interface MetricsReader {
  /** The metrics of this process. */
  readOwn(): Metric[]
  /** The metrics of all processes on the ports of this one: the kernel decides which of them gets a request. */
  readAll(): Promise<Metric[]>
  add(reader: () => Metric[]): void
}

export function createMetricsReader({ node, worker, readers: first }: MetricsNeeds): MetricsReader {
  const readers = [...first]
  const common = { node, ...(worker && { worker: String(worker.number) }) }
  const readOwn = () =>
    readers
      .flatMap((read) => read())
      .map((metric) => ({ ...metric, labels: { ...common, ...metric.labels } }))
  return {
    readOwn,
    readAll: async () => [...readOwn(), ...((await worker?.readSiblings()) ?? [])],
    add: (reader) => readers.push(reader),
  }
}

/** @returns the values of the last checkpoint; none before the first one, and none with PostgreSQL */
export function readDatabaseMetrics({ sizes }: Pick<DatabaseHandle, 'sizes'>): Metric[] {
  const known = sizes?.()
  if (!known) return []
  const { bytes, freeBytes, walBytes } = known
  return [
    gauge('towpath_database_bytes', 'Size of the SQLite file', bytes),
    gauge(
      'towpath_database_free_bytes',
      'Part of the SQLite file that deletions have left free; later rows use it',
      freeBytes,
    ),
    gauge(
      'towpath_wal_bytes',
      "Size of SQLite's log; it stays long while another process reads the file for long",
      walBytes,
    ),
  ]
}
