// Settings for more than one process: ClickHouse, connections to PostgreSQL, workers on one machine, the inner port.

import { parseUrl } from '../lib/web-url.ts'
import { type GetSetting, type ProblemReporter, readCount } from './setting.ts'

/** More would share the same cores: the largest machines have about this many. */
const WORKERS_MAX = 256
const DATABASE_POOL_MAX = 1000

/** How the processes of an installation share its stores and its ports: docs/contract.md §12. */
export interface ClusterSettings {
  /** Replicas of one ClickHouse, in the order of use; undefined: hits are in DuckDB. */
  clickHouseUrls?: string[]
  /** Connections of one process to PostgreSQL. */
  databasePool: number
  /** Processes of one machine that share a port. */
  workers: number
  /** A second port, for everything but redirects. */
  innerPort?: number
}

export function readCluster(get: GetSetting, port: number, wrong: ProblemReporter): ClusterSettings {
  return {
    clickHouseUrls: readClickHouseUrls(get('CLICKHOUSE_URL'), wrong),
    databasePool: readCount('DATABASE_POOL', get, { standard: 10, most: DATABASE_POOL_MAX }, wrong),
    workers: readWorkers(get, wrong),
    innerPort: readInnerPort(get('INNER_PORT'), port, wrong),
  }
}

/** The messages do not repeat an address, because it may have a password. */
function readClickHouseUrls(text: string | undefined, wrong: ProblemReporter): string[] | undefined {
  const urls = text?.split(/[\s,]+/).filter(Boolean)
  if (urls?.every(isClickHouseUrl)) return urls
  if (urls)
    wrong(
      'CLICKHOUSE_URL',
      'is not the address of a ClickHouse server',
      'Use http://user:password@host:8123/database. Put a comma between replicas.',
    )
  return undefined
}

function isClickHouseUrl(text: string): boolean {
  const url = parseUrl(text)
  return url !== null && /^https?:$/.test(url.protocol) && /^\/[\w-]*$/.test(url.pathname) && !url.hash
}

function readWorkers(get: GetSetting, wrong: ProblemReporter): number {
  const workers = readCount('WORKERS', get, { standard: 1, most: WORKERS_MAX }, wrong)
  if (workers === 1 || (get('DATABASE_URL') && get('CLICKHOUSE_URL'))) return workers
  wrong(
    'WORKERS',
    `${workers} processes cannot share SQLite and DuckDB, which belong to one process`,
    'Set DATABASE_URL and CLICKHOUSE_URL too, or leave WORKERS out.',
  )
  return 1
}

function readInnerPort(text: string | undefined, port: number, wrong: ProblemReporter): number | undefined {
  if (text === undefined) return undefined
  const innerPort = Number(text)
  if (/^\d+$/.test(text) && innerPort >= 1 && innerPort <= 65_535 && innerPort !== port) return innerPort
  wrong(
    'INNER_PORT',
    innerPort === port ? 'is the same as PORT' : `"${text}" is not a port`,
    'Use another whole number from 1 to 65535, or leave it out.',
  )
  return undefined
}
