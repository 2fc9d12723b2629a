// Asks DuckDB a question. Exact visitors of millions of clicks need memory. A question that does not get enough is asked
// again when no other such question is, and if need be visitors are counted share by share: slower, and as exact.

import type { DuckDBConnection } from '@duckdb/node-api'
import { log } from '../../../lib/log.ts'
import type { HitAnswer, HitQuery, LastClick, LastClicksQuery } from '../hit-engine.ts'
import { compareKeys, duckDbDialect, type SqlValue, toHitSql, type VisitorShare } from '../hit-sql.ts'
import { toLastClicksSql } from '../last-clicks-sql.ts'
import { createSerialQueue } from './connections.ts'
import { toDuckDbType, toDuckDbValue } from './values.ts'

/** A statement that takes longer holds up the others; the worst measured one on 50 million hits took 1.5 s. */
const ASK_TIMEOUT_MS = 30_000
/** What does not fit in so many shares would take minutes. */
const MOST_SHARES = 128
const FIRST_SHARES = 8

interface Readers {
  use<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T>
}

const isOutOfMemory = (error: unknown) => error instanceof Error && /out of memory/i.test(error.message)

export function createQueryRunner(readers: Readers): (query: HitQuery) => Promise<HitAnswer[]> {
  const inTurn = createSerialQueue()
  const ask = (query: HitQuery, share?: VisitorShare) =>
    readers.use((connection) => runQuery(connection, query, share))

  async function askShares(query: HitQuery, of: number): Promise<HitAnswer[]> {
    try {
      const answers: HitAnswer[] = []
      for (let number = 0; number < of; number++) answers.push(...(await ask(query, { of, number })))
      return mergeShares(answers, query)
    } catch (error) {
      if (!isOutOfMemory(error) || of >= MOST_SHARES) throw error
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
      // Mostly because of the other questions at the same time.
      return inTurn(() => askAlone(query))
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
  const found = rows.map(([span, at, id, node, linkId]): [number, LastClick] => [
    Number(span),
    { id: Number(id), node: String(node), linkId: Number(linkId), at: Number(at) },
  ])
  return read(new Map(found))
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

/** The same keys from every share as one answer, in its order. */
export function mergeShares(answers: HitAnswer[], { groupBy }: HitQuery): HitAnswer[] {
  const found = new Map<HitAnswer['key'], HitAnswer>()
  for (const { key, clicks, visitors } of answers) {
    const so = found.get(key)
    if (so) Object.assign(so, { clicks: so.clicks + clicks, visitors: so.visitors + visitors })
    else found.set(key, { key, clicks, visitors })
  }
  const byKey = (a: HitAnswer, b: HitAnswer) => compareKeys(a.key ?? '', b.key ?? '')
  const inTime = groupBy.by === 'total' || groupBy.by === 'time'
  return [...found.values()].sort(inTime ? byKey : (a, b) => b.clicks - a.clicks || byKey(a, b))
}
