// Formats the operator's report at the end of a move: the amounts, and the settings to start with.

import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { hidePassword, type MoveTargets } from './read-targets.ts'

export interface MovedAmounts {
  /** Undefined where they stay. */
  rows?: number
  tables?: number
  hits?: number
}

export function formatMoveReport(
  { dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>,
  targets: MoveTargets,
  { rows, tables, hits }: MovedAmounts,
  opening: string,
): string {
  const moved = [
    ...(rows === undefined ? [] : [`${rows} rows of ${tables} tables`]),
    ...(hits === undefined ? [] : [`${hits} hits`]),
  ]
  const database = targets.databaseUrl ?? databaseUrl
  const settings = [
    `DATA_DIR=${dataDir}`,
    ...(database === undefined ? [] : [`DATABASE_URL=${hidePassword(database)}`]),
    ...(targets.clickHouseUrls
      ? [`CLICKHOUSE_URL=${targets.clickHouseUrls.map(hidePassword).join(',')}`]
      : []),
  ]
  return [
    `${opening} ${moved.join(' and ')}, the same before and after.`,
    '',
    'Start the server with these settings, and with your passwords in the place of "...":',
    ...settings.map((setting) => `  ${setting}`),
    '',
    'This directory is the first node. Every other node has an empty DATA_DIR of its own and the same TOWPATH_SECRET;',
    `if you have not set one, it is the text of ${join(dataDir, 'secret')}.`,
    'Files of forms stay in DATA_DIR/uploads. Before a second node starts, bring them into a bucket (UPLOADS_S3_URL):',
    'docs/hosting.md says how.',
    'The files of SQLite and DuckDB are as they were. Do not start the server without the new settings any more: what it',
    'then records stays behind.',
  ].join('\n')
}
