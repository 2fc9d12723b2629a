// Asks DuckDB a question. Counting the exact visitors of millions of clicks needs memory. A question that runs out of
// memory is asked again when no other such question runs. If it fails again, its visitors are counted in shares:
// slower, and as exact.

import type { DuckDBConnection } from '@duckdb/node-api'
import { createFairQueue } from '../../../lib/concurrency/fair-queue.ts'
import { log } from '../../../lib/log.ts'
import type { SqlValue } from '../../filter-sql.ts'
import {
  CLICK_SOURCE_FIELDS,
  type ClickSource,
  type HitAnswer,
  type HitQuery,
  type LastClick,
  type LastClicksQuery,
} from '../hit-engine.ts'
import { compareKeys, toHitSql, type VisitorShare } from '../hit-sql.ts'
import { toLastClicksSql } from '../last-clicks-sql.ts'
import type { ReadConnections } from './connections.ts'
import { duckDbDialect } from './dialect.ts'
import { toDuckDbType, toDuckDbValue } from './values.ts'

/** A statement that takes longer holds up the others. The worst one measured on 50 million hits took 1.5 s. */
const ASK_TIMEOUT_MS = 30_000
/** More shares would take minutes. */
const MAX_SHARES = 128
const FIRST_SHARES = 8

const isOutOfMemory = (error: unknown) => error instanceof Error && /out of memory/i.test(error.message)

export function createQueryRunner(
  readers: Pick<ReadConnections, 'use'>,
): (query: HitQuery) => Promise<HitAnswer[]> {
  const largeQuestions = createFairQueue<number>(1)
  const ask = (query: HitQuery, share?: VisitorShare) =>
    readers.use(query.workspaceId, (connection) => runQuery(connection, query, share))

  async function askShares(query: HitQuery, of: number): Promise<HitAnswer[]> {
    try {
      const answers: HitAnswer[] = []
      for (let number = 0; number < of; number++) answers.push(...(await ask(query, { of, number })))
      return mergeShares(answers, query)
    } catch (error) {
      if (!isOutOfMemory(error) || of >= MAX_SHARES) throw error
      return askShares(query, of * 4)
    }
  }

  async function askAlone(query: HitQuery): Promise<HitAnswer[]> {
    try {
      return await ask(query)
    } catch (error) {
      if (!isOutOfMemory(error)) throw error
      log.info('hits.question_in_shares', { workspace: query.workspaceId, groupBy: query.groupBy.by })
      return askShares(query, FIRST_SHARES)
    }
  }

  return async (query) => {
    try {
      return await ask(query)
    } catch (error) {
      if (!isOutOfMemory(error)) throw error
      // Most likely the other questions of the same time took the memory.
      return largeQuestions.run(query.workspaceId, () => askAlone(query))
    }
  }
}

export async function runQuery(
  connection: DuckDBConnection,
  query: HitQuery,
  share?: VisitorShare,
): Promise<HitAnswer[]> {
  const { text, params, key } = toHitSql(query, duckDbDialect, share)
  const rows = await runStatement(connection, text, params)
  return rows.map(([cell, clicks, visitors]) => ({
    key: key(cell),
    clicks: Number(clicks),
    visitors: Number(visitors),
  }))
}

export async function findLastClicks(
  connection: DuckDBConnection,
  query: LastClicksQuery,
): Promise<(LastClick | null)[]> {
  if (query.moments.length === 0) return []
  const { text, params, read } = toLastClicksSql(query, duckDbDialect)
  const rows = await runStatement(connection, text, params)
  const clicks = rows.map(([span, at, id, node, linkId, ...texts]): [number, LastClick] => {
    const source = Object.fromEntries(
      CLICK_SOURCE_FIELDS.map((field, index) => [field, texts[index] ?? null]),
    ) as ClickSource
    return [
      Number(span),
      { id: Number(id), node: String(node), linkId: Number(linkId), at: Number(at), ...source },
    ]
  })
  return read(new Map(clicks))
}

async function runStatement(connection: DuckDBConnection, text: string, params: SqlValue[]) {
  const timer = setTimeout(() => connection.interrupt(), ASK_TIMEOUT_MS)
  try {
    const answer = await connection.runAndReadAll(text, params.map(toDuckDbValue), params.map(toDuckDbType))
    return answer.getRows()
  } finally {
    clearTimeout(timer)
  }
}

/** Adds up the answers of all shares, and sorts them as one answer. */
export function mergeShares(answers: HitAnswer[], { groupBy }: HitQuery): HitAnswer[] {
  const merged = new Map<HitAnswer['key'], HitAnswer>()
  for (const { key, clicks, visitors } of answers) {
    const sum = merged.get(key)
    if (sum) Object.assign(sum, { clicks: sum.clicks + clicks, visitors: sum.visitors + visitors })
    else merged.set(key, { key, clicks, visitors })
  }
  const byKey = (a: HitAnswer, b: HitAnswer) => compareKeys(a.key ?? '', b.key ?? '')
  const isInTime = groupBy.by === 'total' || groupBy.by === 'time'
  return [...merged.values()].sort(isInTime ? byKey : (a, b) => b.clicks - a.clicks || byKey(a, b))
}
