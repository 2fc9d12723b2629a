// Answers questions about the hits in ClickHouse.

import {
  CLICK_SOURCE_FIELDS,
  type ClickSource,
  type HitAnswer,
  type HitEngine,
  type HitQuery,
  type LastClick,
  type LastClicksQuery,
} from '../hit-engine.ts'
import { toHitSql } from '../hit-sql.ts'
import { toLastClicksSql } from '../last-clicks-sql.ts'
import type { ClickHouseClient } from './client.ts'
import { clickHouseDialect } from './dialect.ts'

export type ClickHouseReader = Pick<HitEngine, 'ask' | 'findLastClicks' | 'export'>

export function createClickHouseReader(client: ClickHouseClient): ClickHouseReader {
  return {
    ask: (query) => ask(client, query),
    findLastClicks: (query) => findLastClicks(client, query),
    export: () => Promise.reject(new Error('not built yet')),
  }
}

async function ask(client: ClickHouseClient, query: HitQuery): Promise<HitAnswer[]> {
  const { text, params, key } = toHitSql(query, clickHouseDialect)
  const rows = await client.select(text, { params })
  return rows.map(([cell, clicks, visitors]) => ({
    key: key(cell),
    clicks: Number(clicks),
    visitors: Number(visitors),
  }))
}

async function findLastClicks(
  client: ClickHouseClient,
  query: LastClicksQuery,
): Promise<(LastClick | null)[]> {
  if (query.moments.length === 0) return []
  const { text, params, read } = toLastClicksSql(query, clickHouseDialect)
  const rows = await client.select(text, { params })
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
