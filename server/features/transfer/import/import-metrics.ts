// The metrics of the imports that this process has run, for `/metrics`.

import type { Metric } from '../../../http/health-and-metrics.ts'
import type { ImportRow } from './import-row.ts'

const STATUSES = ['done', 'failed', 'undone'] as const
const OUTCOMES = ['created', 'skipped', 'failed'] as const

export interface ImportMetrics {
  /** @param row with its figures; undefined if its workspace is deleted */
  ended(status: (typeof STATUSES)[number], row: ImportRow | undefined): void
  /** The current values. */
  read(): Metric[]
}

export function createImportMetrics(): ImportMetrics {
  const imports = { done: 0, failed: 0, undone: 0 }
  const rows = { created: 0, skipped: 0, failed: 0 }
  return {
    ended(status, row) {
      imports[status]++
      if (!row || status === 'undone' || row.dry_run === 1) return
      for (const outcome of OUTCOMES) rows[outcome] += row[outcome]
    },
    read: () => [
      ...STATUSES.map(
        (status): Metric => ({
          name: 'towpath_imports_total',
          kind: 'counter',
          help: 'Imports that have ended on this node',
          labels: { status },
          value: imports[status],
        }),
      ),
      ...OUTCOMES.map(
        (outcome): Metric => ({
          name: 'towpath_import_rows_total',
          kind: 'counter',
          help: 'Rows of imports that have ended on this node, without dry runs',
          labels: { outcome },
          value: rows[outcome],
        }),
      ),
    ],
  }
}
