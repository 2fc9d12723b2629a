// SQL of questions about hits by source or channel. Both are looked up for the distinct values of a selection, which are
// few, and never hit by hit. An engine that looks words up by a function needs none of this.

import { toAnyOfSql, type ValueBinder } from '../filter-sql.ts'
import { ORIGIN_COLUMNS, toOriginSql } from '../sources/origin-sql.ts'
import { findKnownSource, isSourceName } from '../sources/traffic-channel.ts'
import { QUERY_COLUMNS } from './hit-columns.ts'
import type { HitJoinDialect } from './hit-dialect.ts'
import type { OriginFilter, OriginGrouping } from './hit-engine.ts'

/**
 * Groups by the stored columns, names each group once, and joins the names to the hits to count their visitors. Without a limit
 * it counts all, in no order.
 */
export function toTopOriginsSql(
  { by, limit, nullAs }: Omit<OriginGrouping, 'limit'> & { limit?: number },
  /** The conditions of the selection, and of the share of the visitors. */
  { where, visitors }: { where: string; visitors: string },
  dialect: HitJoinDialect,
  bind: ValueBinder,
): string {
  const parts = ORIGIN_COLUMNS[by].map((column) => {
    const name = QUERY_COLUMNS[column]
    return { name, ...(dialect.storedAs?.(column) ?? { columns: [name], value: name }) }
  })
  const stored = parts.flatMap(({ columns }) => columns)
  const names = stored.join(', ')
  const values = parts.map(({ name, value }) => `${value} AS ${name}`).join(', ')
  const numbered = stored.map((column, index) => `${column} AS stored_${index}`).join(', ')
  const counted = `SELECT ${names}, count(*) AS part FROM hits WHERE ${where} GROUP BY ${names}`
  const raw = `(SELECT ${values}, ${numbered}, part FROM counted)`
  const numbers = stored.map((_, index) => `stored_${index}`).join(', ')
  const same = stored.map((column, index) => `hits.${column} IS NOT DISTINCT FROM named.stored_${index}`)
  const named = [
    `WITH counted AS MATERIALIZED (${counted}),`,
    `named AS MATERIALIZED (SELECT ${numbers}, part, coalesce(${by}, ${bind(nullAs)}) AS key`,
    `FROM ${toOriginSql(raw, [by], dialect, bind)} AS origins)`,
  ].join(' ')
  const joined = `hits JOIN named ON ${same.join(' AND ')} WHERE ${where}${visitors}`
  const counts = `SELECT key, count(*) AS clicks, ${dialect.countVisitors} AS visitors FROM ${joined}`
  if (limit === undefined) return `${named} ${counts} GROUP BY key`
  const first = `SELECT key, sum(part) AS clicks FROM named GROUP BY key ORDER BY clicks DESC, key LIMIT ${bind(limit)}`
  const amongFirst = `${counts} AND key IN (SELECT key FROM first)`
  return `${named}, first AS (${first}) ${amongFirst} GROUP BY key ORDER BY clicks DESC, key`
}

/** @param range the conditions of workspace and time, with which an engine finds the distinct values */
export function toHitOriginFilterSql(
  { column, values, negate }: OriginFilter,
  range: string,
  dialect: HitJoinDialect,
  bind: ValueBinder,
): string {
  const texts = values.filter((value) => value !== null).map(String)
  const alternatives =
    column === 'source'
      ? toSourceConditions(texts, values.length > texts.length, range, dialect, bind)
      : toChannelConditions(texts, range, dialect, bind)
  const condition = alternatives.length === 0 ? 'false' : `(${alternatives.join(' OR ')})`
  return negate ? `NOT coalesce(${condition}, false)` : condition
}

function toSourceConditions(
  texts: string[],
  withoutReferrer: boolean,
  range: string,
  dialect: HitJoinDialect,
  bind: ValueBinder,
): string[] {
  const conditions = withoutReferrer ? ['referrer IS NULL'] : []
  // A host without a name is its own source, so no other host can belong to it.
  const hosts = texts.filter((text) => !findKnownSource(text))
  if (hosts.length > 0) conditions.push(toAnyOfSql('referrer', hosts, dialect, bind))
  const names = texts.filter(isSourceName)
  if (names.length > 0) {
    const distinct = `(SELECT DISTINCT referrer FROM hits WHERE ${range} AND referrer IS NOT NULL)`
    const named = `SELECT referrer FROM ${toOriginSql(distinct, ['source'], dialect, bind)} AS origins`
    conditions.push(`referrer IN (${named} WHERE ${toAnyOfSql('source', names, dialect, bind)})`)
  }
  return conditions
}

function toChannelConditions(
  texts: string[],
  range: string,
  dialect: HitJoinDialect,
  bind: ValueBinder,
): string[] {
  if (texts.length === 0) return []
  const columns = ORIGIN_COLUMNS.channel.map((column) => QUERY_COLUMNS[column])
  const nothing = bind('')
  // A missing value and an empty one have the same channel, and no null is in a list.
  const triple = `(${columns.map((column) => `coalesce(${column}, ${nothing})`).join(', ')})`
  const distinct = `(SELECT DISTINCT ${columns.join(', ')} FROM hits WHERE ${range})`
  const named = `SELECT ${triple} FROM ${toOriginSql(distinct, ['channel'], dialect, bind)} AS origins`
  return [`${triple} IN (${named} WHERE ${toAnyOfSql('channel', texts, dialect, bind)})`]
}
