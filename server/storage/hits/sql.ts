// A question about clicks as one statement. Every value is bound, every name comes from a closed map; what engines
// say differently is a dialect of a dozen lines.

import type { HitAnswer, HitColumn, HitFilter, HitGrouping, HitQuery, HitSelection } from './engine.ts'

export type SqlValue = number | string | number[] | string[]

export interface Dialect {
  /** How the statement refers to its n-th value, counted from 1. */
  placeholder(n: number, value: SqlValue): string
  distinct(column: string): string
  /** Whether `column` is in the list; null or false where it has no value. */
  memberOf(column: string, list: string): string
  lower(column: string): string
  /** Two lists of equal length as the rows (`link_id`, `slot`) of a table. */
  pairs(linkIds: string, slots: string): string
}

/** What a question about last clicks takes besides (last-clicks.ts). */
export interface SpanDialect extends Pick<Dialect, 'placeholder'> {
  /** Four lists of equal length as the rows (`visitor`, `since`, `until`, `span`) of a table; visitors are texts. */
  spans(visitors: string, sinces: string, untils: string, spans: string): string
  /** The largest row of a group, compared column by column, with its columns as fields. */
  newest(columns: string[]): string
}

export const duckDbDialect: Dialect & SpanDialect = {
  placeholder: (n, value) =>
    `$${n}${Array.isArray(value) ? '' : typeof value === 'number' ? '::BIGINT' : '::VARCHAR'}`,
  distinct: (column) => `count(DISTINCT ${column})`,
  memberOf: (column, list) => `${column} IN (SELECT unnest(${list}))`,
  lower: (column) => `lower(${column})`,
  pairs: (linkIds, slots) => `(SELECT unnest(${linkIds}) AS link_id, unnest(${slots}) AS slot)`,
  spans: (visitors, sinces, untils, spans) =>
    `(SELECT TRY_CAST(unnest(${visitors}) AS UBIGINT) AS visitor, unnest(${sinces}) AS since, unnest(${untils}) AS until,
      unnest(${spans}) AS span)`,
  newest: (columns) => `max({${columns.map((column) => `'${column}': ${column}`).join(', ')}})`,
}

/** What each question word is called in the table. */
export const COLUMNS: Record<HitColumn, string> = {
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

/** Names of products, which people write as they like: `chrome`, `iOS`. */
const CASELESS: ReadonlySet<HitColumn> = new Set(['device', 'browser', 'os'])

export interface HitSql {
  /** Answers rows of key, clicks, visitors. */
  text: string
  params: SqlValue[]
  /** The answer's key from the first column. */
  key(cell: unknown): HitAnswer['key']
}

/** A share of the visitors. Answers about all shares add up to the whole: a visitor is in one of them alone. */
export interface Share {
  of: number
  /** From 0. */
  number: number
}

export function hitSql(query: HitQuery, dialect: Dialect, share?: Share): HitSql {
  const params: SqlValue[] = []
  const bind = (value: SqlValue) => dialect.placeholder(params.push(value), value)
  const { key, from, limit, read } = groupingSql(query.groupBy, dialect, bind)
  const where = selectionSql(query, dialect, bind)
  const visitors = share ? ` AND visitor % ${bind(share.of)} = ${bind(share.number)}` : ''
  const most = 'GROUP BY key ORDER BY clicks DESC, key'
  const top = limit === undefined ? '' : ` LIMIT ${bind(limit)}`
  const count = (among: string) =>
    `SELECT ${key} AS key, count(*) AS clicks, ${dialect.distinct('visitor')} AS visitors FROM ${from} WHERE ${among}`
  const done = (text: string) => ({ text, params, key: read })
  if (query.groupBy.by === 'total') return done(count(where + visitors))
  if (query.groupBy.by === 'time') return done(`${count(where + visitors)} GROUP BY key ORDER BY key`)
  if (!share && query.groupBy.by !== 'linkId') return done(`${count(where)} ${most}${top}`)
  // First which keys, then their visitors: most visitors of most links are never counted. Three times faster for
  // links, of which there are thousands; slower for dimensions where the first few keys have nearly all hits.
  const first = `SELECT ${key} AS key, count(*) AS clicks FROM ${from} WHERE ${where} ${most}${top}`
  return done(`${count(`${where} AND ${key} IN (SELECT key FROM (${first}) AS first)${visitors}`)} ${most}`)
}

/** Keeps a value and says how the statement refers to it. */
export type Bind = (value: SqlValue) => string

/** Which hits a question is about, as the condition of a statement. */
export const selectionSql = (selection: HitSelection, dialect: Dialect, bind: Bind): string =>
  [
    `workspace_id = ${bind(selection.workspaceId)}`,
    `recorded_at >= ${bind(selection.start)}`,
    `recorded_at < ${bind(selection.end)}`,
    `outcome = ${bind('redirect')}`,
    memberSql('class', selection.classes, dialect, bind),
    ...selection.filters.map((filter) => filterSql(filter, dialect, bind)),
  ].join(' AND ')

interface GroupingSql {
  key: string
  from: string
  limit?: number
  read(cell: unknown): HitAnswer['key']
}

function groupingSql(grouping: HitGrouping, dialect: Dialect, bind: Bind): GroupingSql {
  switch (grouping.by) {
    case 'total':
      return { key: 'NULL', from: 'hits', read: () => null }
    case 'time':
      return { key: bucketSql(grouping.starts, bind), from: 'hits', read: Number }
    case 'linkGroup':
      return linkGroupSql(grouping.groups, grouping.limit, dialect, bind)
    case 'linkId':
      return { key: 'link_id', from: 'hits', limit: grouping.limit, read: Number }
    default:
      return {
        key: `coalesce(${COLUMNS[grouping.by]}, ${bind(grouping.nullAs)})`,
        from: 'hits',
        limit: grouping.limit,
        read: String,
      }
  }
}

/** Groups travel as slots numbered in the order of their names, so that ties come in that order and names once. */
function linkGroupSql(
  groups: { linkId: number; group: string | number }[],
  limit: number,
  dialect: Dialect,
  bind: Bind,
): GroupingSql {
  // An engine cannot tell the type of an empty list; no link is numbered below 0.
  const named = groups.length > 0 ? groups : [{ linkId: -1, group: '' }]
  const names = [...new Set(named.map((each) => each.group))].sort(byName)
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
export const byName = (a: string | number, b: string | number) =>
  typeof a === 'number' && typeof b === 'number'
    ? a - b
    : Buffer.compare(Buffer.from(`${a}`), Buffer.from(`${b}`))

/**
 * The start of a hit's bucket by arithmetic. Buckets of one length in a row are one run, so a year of days is five
 * runs (two of them the days the clocks change), and no row needs a look-up or a time zone.
 */
function bucketSql(starts: number[], bind: Bind): string {
  const runs = equalRuns(starts)
  const last = bind(starts.at(-1) ?? 0)
  if (runs.length === 0) return last
  const cases = runs.map(
    ({ start, step, end }) =>
      `WHEN recorded_at < ${bind(end)} THEN recorded_at - (recorded_at - ${bind(start)}) % ${bind(step)}`,
  )
  return `CASE ${cases.join(' ')} ELSE ${last} END`
}

function equalRuns(starts: number[]): { start: number; step: number; end: number }[] {
  const runs: { start: number; step: number; end: number }[] = []
  for (const [index, end] of starts.entries()) {
    if (index === 0) continue
    const start = starts[index - 1] as number
    const run = runs.at(-1)
    if (run?.step === end - start) run.end = end
    else runs.push({ start, step: end - start, end })
  }
  return runs
}

function filterSql({ column, values, negate }: HitFilter, dialect: Dialect, bind: Bind): string {
  const present = values.filter((value) => value !== null)
  const some = [
    ...(present.length > 0 ? [memberSql(column, present, dialect, bind)] : []),
    ...(present.length < values.length ? [`${COLUMNS[column]} IS NULL`] : []),
  ]
  const any = some.length === 0 ? 'false' : `(${some.join(' OR ')})`
  // A hit without a value is neither in a list nor outside it; for us it is outside.
  return negate ? `NOT coalesce(${any}, false)` : any
}

/** Few values one by one, which an engine looks up in its statistics; many as a list. */
const FEW_VALUES = 8

function memberSql(column: HitColumn, values: (string | number)[], dialect: Dialect, bind: Bind): string {
  if (values.length === 0) return 'false'
  const name = CASELESS.has(column) ? dialect.lower(COLUMNS[column]) : COLUMNS[column]
  if (column === 'linkId') return anyOf(name, values.map(Number), dialect, bind)
  const texts = values.map(String)
  return anyOf(name, CASELESS.has(column) ? texts.map((text) => text.toLowerCase()) : texts, dialect, bind)
}

function anyOf(name: string, values: number[] | string[], dialect: Dialect, bind: Bind): string {
  if (values.length > FEW_VALUES) return dialect.memberOf(name, bind(values))
  return `${name} IN (${values.map((value) => bind(value)).join(', ')})`
}
