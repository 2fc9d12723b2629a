// A question about clicks as one statement. Every value is bound, every name comes from a closed map; what engines
// say differently is a dialect of a dozen lines.

import {
  type FilterDialect,
  type SqlValue,
  toAnyOfSql,
  toBucketSql,
  toFilterSql,
  toMemberSql,
  type ValueBinder,
} from '../filter-sql.ts'
import { toStoredExpression } from './duckdb/layout.ts'
import type { HitAnswer, HitColumn, HitGrouping, HitQuery, HitSelection } from './hit-engine.ts'

export type { SqlValue } from '../filter-sql.ts'

export interface HitDialect extends FilterDialect {
  distinct(column: string): string
  /** Two lists of equal length as the rows (`link_id`, `slot`) of a table. */
  pairs(linkIds: string, slots: string): string
  /** Which columns a value is made of, and how. Only with it the visitors of a few values are counted as bits. */
  storedAs?(column: HitColumn): StoredExpression
}

export interface StoredExpression {
  columns: string[]
  value: string
}

/** What a question about last clicks takes besides (last-clicks-sql.ts). */
export interface SpanDialect extends Pick<HitDialect, 'placeholder'> {
  /** Four lists of equal length as the rows (`visitor`, `since`, `until`, `span`) of a table; visitors are texts. */
  spans(visitors: string, sinces: string, untils: string, spans: string): string
  /** The largest row of a group, compared column by column, with its columns as fields. */
  newest(columns: string[]): string
}

export const duckDbDialect: HitDialect & SpanDialect = {
  placeholder: (n, value) =>
    `$${n}${Array.isArray(value) ? '' : typeof value === 'number' ? '::BIGINT' : '::VARCHAR'}`,
  distinct: (column) => `count(DISTINCT ${column})`,
  isInList: (column, list) => `${column} IN (SELECT unnest(${list}))`,
  lower: (column) => `lower(${column})`,
  pairs: (linkIds, slots) => `(SELECT unnest(${linkIds}) AS link_id, unnest(${slots}) AS slot)`,
  storedAs: (column) => toStoredExpression(QUERY_COLUMNS[column]),
  spans: (visitors, sinces, untils, spans) =>
    `(SELECT TRY_CAST(unnest(${visitors}) AS UBIGINT) AS visitor, unnest(${sinces}) AS since, unnest(${untils}) AS until,
      unnest(${spans}) AS span)`,
  newest: (columns) => `max({${columns.map((column) => `'${column}': ${column}`).join(', ')}})`,
}

/** What each question word is called in the table. */
export const QUERY_COLUMNS: Record<HitColumn, string> = {
  linkId: 'link_id',
  class: 'class',
  country: 'country',
  region: 'region',
  city: 'city',
  continent: 'continent',
  device: 'device',
  browser: 'browser',
  os: 'os',
  referrer: 'referrer',
  referrerUrl: 'referrer_url',
  utmSource: 'utm_source',
  utmMedium: 'utm_medium',
  utmCampaign: 'utm_campaign',
  utmTerm: 'utm_term',
  utmContent: 'utm_content',
  trigger: 'trigger',
}

/** What a visitor has another of with each click; of the other dimensions nearly every visitor has one. */
const CLICK_COLUMNS: ReadonlySet<HitColumn> = new Set([
  'referrer',
  'referrerUrl',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
])
/** One for each key, and none for the sign. */
const KEYS_PER_BITMAP = 62

export interface HitSql {
  /** Answers rows of key, clicks, visitors. */
  text: string
  params: SqlValue[]
  /** The answer's key from the first column. */
  key(cell: unknown): HitAnswer['key']
}

/** A share of the visitors. Answers about all shares add up to the whole: a visitor is in one of them alone. */
export interface VisitorShare {
  of: number
  /** From 0. */
  number: number
}

export function toHitSql(query: HitQuery, dialect: HitDialect, share?: VisitorShare): HitSql {
  const params: SqlValue[] = []
  const bind = (value: SqlValue) => dialect.placeholder(params.push(value), value)
  const { key, from, limit, read, parts } = toGroupingSql(query.groupBy, dialect, bind)
  const where = toSelectionSql(query, dialect, bind)
  const visitors = share ? ` AND visitor % ${bind(share.of)} = ${bind(share.number)}` : ''
  const most = 'GROUP BY key ORDER BY clicks DESC, key'
  const top = limit === undefined ? '' : ` LIMIT ${bind(limit)}`
  const count = (among: string) =>
    `SELECT ${key} AS key, count(*) AS clicks, ${dialect.distinct('visitor')} AS visitors FROM ${from} WHERE ${among}`
  const done = (text: string) => ({ text, params, key: read })
  if (query.groupBy.by === 'total') return done(count(where + visitors))
  if (query.groupBy.by === 'time') return done(`${count(where + visitors)} GROUP BY key ORDER BY key`)
  if (!share && parts && (limit ?? 0) <= KEYS_PER_BITMAP) return done(toTopSql(parts, where, top))
  if (!share && query.groupBy.by !== 'linkId') return done(`${count(where)} ${most}${top}`)
  // First which keys, then their visitors: most visitors of most links are never counted.
  const first = `SELECT ${key} AS key, count(*) AS clicks FROM ${from} WHERE ${where} ${most}${top}`
  return done(`${count(`${where} AND ${key} IN (SELECT key FROM (${first}) AS first)${visitors}`)} ${most}`)
}

/**
 * First which keys, then one bit for each of them in one number per visitor: takes little more than counting visitors
 * alone, where counting pairs of key and visitor takes three to five times as long and as much memory.
 */
function toTopSql({ columns, value: key }: StoredExpression, where: string, top: string): string {
  const names = columns.join(', ')
  const same = columns.map((column) => `asked.${column} IS NOT DISTINCT FROM few.${column}`)
  return [
    `WITH counted AS MATERIALIZED (SELECT ${names}, count(*) AS part FROM hits WHERE ${where} GROUP BY ${names}),`,
    `first AS (SELECT ${key} AS key, sum(part) AS clicks FROM counted GROUP BY key ORDER BY clicks DESC, key${top}),`,
    'numbered AS MATERIALIZED (SELECT key, clicks, row_number() OVER () - 1 AS place FROM first),',
    `few AS MATERIALIZED (SELECT ${names}, CAST(1 AS BIGINT) << place AS bit FROM counted JOIN numbered ON ${key} = key),`,
    `asked AS (SELECT visitor, ${names} FROM hits WHERE ${where}),`,
    `seen AS (SELECT bit_or(bit) AS bits FROM asked JOIN few ON ${same.join(' AND ')} GROUP BY visitor),`,
    'alike AS (SELECT bits, count(*) AS visitors FROM seen GROUP BY bits)',
    'SELECT key, clicks, sum(visitors) AS visitors FROM numbered JOIN alike ON (bits >> place) % 2 = 1',
    'GROUP BY key, clicks ORDER BY clicks DESC, key',
  ].join(' ')
}

/** Which hits a question is about, as the condition of a statement. */
export const toSelectionSql = (selection: HitSelection, dialect: HitDialect, bind: ValueBinder): string =>
  [
    `workspace_id = ${bind(selection.workspaceId)}`,
    `recorded_at >= ${bind(selection.start)}`,
    `recorded_at < ${bind(selection.end)}`,
    toAnyOfSql('outcome', selection.outcomes ?? ['redirect'], dialect, bind),
    toMemberSql('class', selection.classes, QUERY_COLUMNS, dialect, bind),
    ...selection.filters.map((filter) => toFilterSql(filter, QUERY_COLUMNS, dialect, bind)),
  ].join(' AND ')

interface GroupingSql {
  key: string
  from: string
  limit?: number
  /** The key once more, where its visitors are best counted by `toTopSql`. */
  parts?: StoredExpression
  read(cell: unknown): HitAnswer['key']
}

function toGroupingSql(grouping: HitGrouping, dialect: HitDialect, bind: ValueBinder): GroupingSql {
  switch (grouping.by) {
    case 'total':
      return { key: 'NULL', from: 'hits', read: () => null }
    case 'time':
      return { key: toBucketSql('recorded_at', grouping.starts, bind), from: 'hits', read: Number }
    case 'linkGroup':
      return toLinkGroupSql(grouping.groups, grouping.limit, dialect, bind)
    case 'linkId':
      return {
        key: 'link_id',
        from: 'hits',
        limit: grouping.limit,
        parts: dialect.storedAs?.('linkId'),
        read: Number,
      }
    default: {
      const nullAs = bind(grouping.nullAs)
      const named = (value: string) => `coalesce(${value}, ${nullAs})`
      const madeOf = CLICK_COLUMNS.has(grouping.by) ? dialect.storedAs?.(grouping.by) : undefined
      return {
        key: named(QUERY_COLUMNS[grouping.by]),
        from: 'hits',
        limit: grouping.limit,
        parts: madeOf && { ...madeOf, value: named(madeOf.value) },
        read: String,
      }
    }
  }
}

/** Groups travel as slots numbered in the order of their names, so that ties come in that order and names once. */
function toLinkGroupSql(
  groups: { linkId: number; group: string | number }[],
  limit: number,
  dialect: HitDialect,
  bind: ValueBinder,
): GroupingSql {
  // An engine cannot tell the type of an empty list; no link is numbered below 0.
  const named = groups.length > 0 ? groups : [{ linkId: -1, group: '' }]
  const names = [...new Set(named.map((each) => each.group))].sort(compareKeys)
  const slots = new Map(names.map((name, slot) => [name, slot]))
  const distinct = new Map(named.map((each) => [`${each.linkId}/${slots.get(each.group)}`, each]))
  const pairs = dialect.pairs(
    bind([...distinct.values()].map((each) => each.linkId)),
    bind([...distinct.values()].map((each) => slots.get(each.group) as number)),
  )
  return {
    key: 'slot',
    from: `hits JOIN ${pairs} AS groups USING (link_id)`,
    limit,
    read: (cell) => names[Number(cell)] as string | number,
  }
}

/** As engines order them: numbers by size, texts by their bytes. */
export const compareKeys = (a: string | number, b: string | number) =>
  typeof a === 'number' && typeof b === 'number'
    ? a - b
    : Buffer.compare(Buffer.from(`${a}`), Buffer.from(`${b}`))
