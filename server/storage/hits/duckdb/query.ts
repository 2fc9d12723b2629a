// Runs a question in DuckDB. If a question runs out of memory, most likely other questions have used it, so large questions
// run one at a time.

import type { DuckDBConnection } from '@duckdb/node-api'
import { createFairQueue } from '../../../lib/concurrency/fair-queue.ts'
import type { Statement } from '../../filter-sql.ts'
import type { HitAnswer, HitQuery } from '../hit-engine.ts'
import { toHitSql } from '../hit-sql.ts'
import { createShareCounter, type VisitorShare } from '../visitor-shares.ts'
import type { ReadConnections } from './connections.ts'
import { duckDbDialect } from './dialect.ts'
import { inlinePlainValues, toDuckDbType, toDuckDbValue } from './values.ts'

/** A longer statement would delay the others. The slowest one on 50 million hits took 1.5 s. */
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

export const runQuery = (
  connection: DuckDBConnection,
  query: HitQuery,
  share?: VisitorShare,
): Promise<HitAnswer[]> => runStatement(connection, toHitSql(query, duckDbDialect, share))

export async function runStatement<Answer>(
  connection: DuckDBConnection,
  { text, params, read }: Statement<Answer>,
): Promise<Answer> {
  const timer = setTimeout(() => connection.interrupt(), ASK_TIMEOUT_MS)
  try {
    const plain = inlinePlainValues(text, params)
    const answer = await (plain === undefined
      ? connection.runAndReadAll(text, params.map(toDuckDbValue), params.map(toDuckDbType))
      : connection.runAndReadAll(plain))
    return read(answer.getRows())
  } finally {
    clearTimeout(timer)
  }
}
