// SQL of questions about hits by source or channel. Both are looked up only for the few distinct values of a selection, not for
// each hit. An engine that looks words up by a function does not need this.

import { toAnyOfSql, type ValueBinder } from '../filter-sql.ts'
import { ORIGIN_COLUMNS, toOriginSql } from '../sources/origin-sql.ts'
import { QUERY_COLUMNS } from './hit-columns.ts'
import type { HitJoinDialect } from './hit-dialect.ts'
import type { OriginFilter, OriginGrouping } from './hit-engine.ts'

/**
 * Groups by the stored columns, names each group once, and joins the names to the hits to count their visitors. Without a limit
 * it counts all names, unsorted.
 */
export function toTopOriginsSql(
  { by, limit, nullAs }: Omit<OriginGrouping, 'limit'> & { limit?: number },
  /** The conditions of the selection and of the share of visitors. */
  { where, visitors }: { where: string; visitors: string },
  dialect: HitJoinDialect,
  bind: ValueBinder,
): string {
  const parts = ORIGIN_COLUMNS[by].map((column) => ({
    name: QUERY_COLUMNS[column],
    ...dialect.storedAs(column),
  }))
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

/** @param range the conditions of workspace and time, by which an engine finds the distinct values */
export function toHitOriginFilterSql(
  { column, values, negate }: OriginFilter,
  range: string,
  dialect: HitJoinDialect,
  bind: ValueBinder,
): string {
  const columns = ORIGIN_COLUMNS[column].map((name) => QUERY_COLUMNS[name])
  // A list cannot contain null, so a single blank represents a missing value.
  const nothing = bind(' ')
  const tuple = `(${columns.map((name) => `coalesce(${name}, ${nothing})`).join(', ')})`
  const distinct = `(SELECT DISTINCT ${columns.join(', ')} FROM hits WHERE ${range})`
  const texts = values.filter((value) => value !== null).map(String)
  const matches =
    [
      ...(texts.length > 0 ? [toAnyOfSql(column, texts, dialect, bind)] : []),
      ...(values.length > texts.length ? [`${column} IS NULL`] : []),
    ].join(' OR ') || 'false'
  const named = `SELECT ${tuple} FROM ${toOriginSql(distinct, [column], dialect, bind)} AS origins WHERE ${matches}`
  return `${tuple} ${negate ? 'NOT ' : ''}IN (${named})`
}
