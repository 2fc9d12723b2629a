// Runs a question in DuckDB. A question that runs out of memory is most likely short of what other questions took, so
// large questions run one at a time.

import type { DuckDBConnection } from '@duckdb/node-api'
import { createFairQueue } from '../../../lib/concurrency/fair-queue.ts'
import type { SqlValue } from '../../filter-sql.ts'
import { toClickPageSql } from '../click-page-sql.ts'
import type {
  ClickPage,
  ClickPageQuery,
  HitAnswer,
  HitQuery,
  LastClick,
  LastClicksQuery,
  LastClickTime,
  RecentClick,
  RecentClicksQuery,
} from '../hit-engine.ts'
import { toHitSql } from '../hit-sql.ts'
import { toLastClicksSql, toLastClickTimesSql } from '../last-clicks-sql.ts'
import { toRecentClicksSql } from '../recent-clicks-sql.ts'
import { createShareCounter, type VisitorShare } from '../visitor-shares.ts'
import type { ReadConnections } from './connections.ts'
import { duckDbDialect } from './dialect.ts'
import { inlinePlainValues, toDuckDbType, toDuckDbValue } from './values.ts'

/** A statement that takes longer holds up the others. The worst one measured on 50 million hits took 1.5 s. */
const ASK_TIMEOUT_MS = 30_000

export const isOutOfMemory = (error: unknown) =>
  error instanceof Error && /out of memory/i.test(error.message)

export function createQueryRunner(
  readers: Pick<ReadConnections, 'use'>,
): (query: HitQuery) => Promise<HitAnswer[]> {
  return createShareCounter({
    ask: (query, share) => readers.use(query.workspaceId, (connection) => runQuery(connection, query, share)),
    isOutOfMemory,
    largeQuestions: createFairQueue(1),
  })
}

export async function runQuery(
  connection: DuckDBConnection,
  query: HitQuery,
  share?: VisitorShare,
): Promise<HitAnswer[]> {
  const { text, params, read } = toHitSql(query, duckDbDialect, share)
  return read(await runStatement(connection, text, params))
}

export async function findLastClicks(
  connection: DuckDBConnection,
  query: LastClicksQuery,
): Promise<(LastClick | null)[]> {
  if (query.moments.length === 0) return []
  const { text, params, read } = toLastClicksSql(query, duckDbDialect)
  return read(await runStatement(connection, text, params))
}

export async function findLastClickTimes(
  connection: DuckDBConnection,
  workspaceId: number,
  linkIds: number[],
): Promise<LastClickTime[]> {
  if (linkIds.length === 0) return []
  const { text, params, read } = toLastClickTimesSql(workspaceId, linkIds, duckDbDialect)
  return read(await runStatement(connection, text, params))
}

export async function readClickPage(connection: DuckDBConnection, query: ClickPageQuery): Promise<ClickPage> {
  const { text, params, read } = toClickPageSql(query, duckDbDialect)
  return read(await runStatement(connection, text, params))
}

export async function listRecentClicks(
  connection: DuckDBConnection,
  query: RecentClicksQuery,
): Promise<RecentClick[]> {
  const { text, params, read } = toRecentClicksSql(query, duckDbDialect)
  return read(await runStatement(connection, text, params))
}

export async function runStatement(connection: DuckDBConnection, text: string, params: SqlValue[]) {
  const timer = setTimeout(() => connection.interrupt(), ASK_TIMEOUT_MS)
  try {
    const plain = inlinePlainValues(text, params)
    const answer = await (plain === undefined
      ? connection.runAndReadAll(text, params.map(toDuckDbValue), params.map(toDuckDbType))
      : connection.runAndReadAll(plain))
    return answer.getRows()
  } finally {
    clearTimeout(timer)
  }
}
