// Runs `towpath backup`: with the settings of the server, at a low priority, and with a report for the operator.

import { readConfig, readDataDirectory } from '../../config/config.ts'
import { VERSION } from '../../config/version.ts'
import { type BackupResult, backUp } from '../../features/backup/back-up.ts'
import { lowerPriority } from '../../lib/child-process.ts'
import { CommandError } from '../command.ts'
import { endOnSignals } from '../end-on-signals.ts'
import type { ProgressBar } from '../progress-bar.ts'
import { formatAmount } from './format-amount.ts'

/** @returns the report for the operator */
export async function runBackup(progress: ProgressBar, directory: string, since?: string): Promise<string> {
  const { path, isInUse } = readDataDirectory()
  if (!isInUse)
    throw new CommandError(
      `No server has kept anything in ${path}. Set DATA_DIR to the directory of your server.`,
    )
  const config = readConfig()
  // Redirects go first. The files of the hits are safe within milliseconds, and the rest can wait.
  lowerPriority()
  const signal = endOnSignals('Stopped. The unfinished backup was removed.')
  const startedAt = performance.now()
  try {
    const needs = { ...config, version: VERSION, now: Date.now, progress: progress.at, signal }
    const result = await backUp(needs, directory, since)
    return formatReport(result, directory, performance.now() - startedAt)
  } finally {
    progress.end()
  }
}

function formatReport(
  { manifest: backup, waiting, damaged }: BackupResult,
  directory: string,
  ms: number,
): string {
  const { files, rows, hits, besides } = backup
  const counts = rows.engine === 'sqlite' ? Object.entries(rows.counts) : []
  const amounts = [...counts, ['batches of hits', hits.batches]].map(([name, count]) => `${name}: ${count}`)
  return [
    `Backed up as of ${backup.takenAt}: ${formatAmount(files, ms)} (${amounts.join(', ')}). It is in ${directory}, and ` +
      `has the secret of the installation. To restore: set DATA_DIR to an empty directory, and run "npx towpath restore ${directory}".`,
    ...(waiting > 0
      ? [`${waiting} hits wait in the server's memory, because its disk is full. They are not in the backup.`]
      : []),
    ...damaged.map(
      (path) => `${path} is damaged: delete that backup. The new one has the file from DATA_DIR.`,
    ),
    ...(besides.length > 0
      ? [
          'Rows or hits are in separate stores, which this backup does not contain. For a complete backup, run these commands',
          'before it, in this order (docs/backup.md):',
          ...besides.map((command) => `  ${command}`),
        ]
      : []),
  ].join('\n')
}
