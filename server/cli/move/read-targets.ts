// Reads the targets of a move from the options of the command. No message repeats an address, because it has a
// password.

import { readCluster } from '../../config/cluster-settings.ts'
import { readDatabaseUrl } from '../../config/storage-settings.ts'
import { CommandError } from '../command.ts'

export interface MoveTargets {
  /** The rows move to this PostgreSQL database; undefined: they stay where they are. */
  databaseUrl?: string
  /** The hits move to this ClickHouse; undefined: they stay where they are. */
  clickHouseUrls?: string[]
}

interface MoveOptions {
  'to-database'?: string
  'to-clickhouse'?: string
}

interface PresentSettings {
  databaseUrl: string | undefined
  clickHouseUrls?: string[]
}

/** @throws CommandError for wrong addresses, and where there is nothing to move */
export function readMoveTargets(options: MoveOptions, present: PresentSettings): MoveTargets {
  const toDatabase = options['to-database']
  const toClickHouse = options['to-clickhouse']
  if (toDatabase === undefined && toClickHouse === undefined)
    throw new CommandError(
      'Say where to: --to-database postgres://user:password@host:5432/database and ' +
        '--to-clickhouse http://user:password@host:8123/database.',
    )
  if (toDatabase !== undefined && present.databaseUrl !== undefined)
    throw new CommandError(
      'DATABASE_URL is set, so the rows are in PostgreSQL already. Leave DATABASE_URL out to move from SQLite, ' +
        'or leave --to-database out.',
    )
  if (toClickHouse !== undefined && present.clickHouseUrls !== undefined)
    throw new CommandError(
      'CLICKHOUSE_URL is set, so the hits are in ClickHouse already. Leave CLICKHOUSE_URL out to move from DuckDB, ' +
        'or leave --to-clickhouse out.',
    )
  const problems: string[] = []
  const wrongIn = (option: string) => (_name: string, what: string, fix: string) =>
    problems.push(`${option}: ${what}. ${fix}`)
  const databaseUrl = readDatabaseUrl(toDatabase, wrongIn('--to-database'))
  const getUrl = (name: string) => (name === 'CLICKHOUSE_URL' ? toClickHouse : undefined)
  const { clickHouseUrls } = readCluster(getUrl, 0, wrongIn('--to-clickhouse'))
  if (problems.length > 0) throw new CommandError(problems.join('\n'))
  return { databaseUrl, clickHouseUrls }
}

/** An address that may be shown: without its password. */
export function hidePassword(address: string): string {
  const url = new URL(address)
  if (url.password !== '') url.password = '...'
  for (const name of url.searchParams.keys()) if (/pass/i.test(name)) url.searchParams.set(name, '...')
  return url.href
}
