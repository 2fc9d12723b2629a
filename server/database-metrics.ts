// The metrics of SQLite's files, for `/metrics`. PostgreSQL has its own.

import type { Metric } from './http/health-and-metrics.ts'
import type { DatabaseHandle } from './storage/database/open-database.ts'

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
