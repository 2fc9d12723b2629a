// Runs `towpath restore`, with a report for the operator.

import { readDataDirectory } from '../../config/config.ts'
import { restore } from '../../features/backup/restore.ts'
import { requireOwnFormats } from '../../start/open-rows.ts'
import { endOnSignals } from '../end-on-signals.ts'
import type { ProgressBar } from '../progress-bar.ts'
import { formatAmount } from './format-amount.ts'

/** @returns the report for the operator */
export async function runRestore(progress: ProgressBar, directory: string): Promise<string> {
  const { path: dataDir } = readDataDirectory()
  const signal = endOnSignals('Stopped. DATA_DIR is empty again.')
  const startedAt = performance.now()
  try {
    const { takenAt, files, rows, hits } = await restore(
      { dataDir, requireOwnFormats, progress: progress.at, signal },
      directory,
    )
    return [
      `Restored the installation as of ${takenAt} into ${dataDir}: ${formatAmount(
        files.map(({ bytes }) => ({ bytes })),
        performance.now() - startedAt,
      )}. ` +
        'Stop the old server if it still runs, because both would send the same notifications. Then start this one.',
      'If TOWPATH_SECRET is set, it must be the secret of then. Without it, the server reads the secret of the backup.',
      ...(rows.engine === 'postgres'
        ? ['The rows are not in the backup: restore PostgreSQL as well, as RESTORE.txt of the backup says.']
        : []),
      ...(hits.engine === 'clickhouse'
        ? ['Hits that ClickHouse has loaded are not in the backup: restore ClickHouse as well.']
        : []),
    ].join('\n')
  } finally {
    progress.end()
  }
}
