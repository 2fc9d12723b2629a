// Collects the metrics of all parts of a server, says which node and worker they are of, and adds those of the other
// workers of this machine.

import type { Metric } from './http/health-and-metrics.ts'
import type { DatabaseHandle } from './storage/database/open-database.ts'

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
    { name: 'towpath_database_bytes', kind: 'gauge', help: 'Size of the SQLite file', value: bytes },
    {
      name: 'towpath_database_free_bytes',
      kind: 'gauge',
      help: 'Part of the SQLite file that deletions have left free; later rows use it',
      value: freeBytes,
    },
    {
      name: 'towpath_wal_bytes',
      kind: 'gauge',
      help: "Size of SQLite's log; it stays long while another process reads the file for long",
      value: walBytes,
    },
  ]
}
