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

export const duckDbDialect: Dialect = {
  placeholder: (n, value) =>
    `$${n}${Array.isArray(value) ? '' : typeof value === 'number' ? '::BIGINT' : '::VARCHAR'}`,
  distinct: (column) => `count(DISTINCT ${column})`,
  memberOf: (column, list) => `${column} IN (SELECT unnest(${list}))`,
  lower: (column) => `lower(${column})`,
  pairs: (linkIds, slots) => `(SELECT unnest(${linkIds}) AS link_id, unnest(${slots}) AS slot)`,
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

export function hitSql(query: HitQuery, dialect: Dialect): HitSql {
  const params: SqlValue[] = []
  const bind = (value: SqlValue) => dialect.placeholder(params.push(value), value)
  const grouping = groupingSql(query.groupBy, dialect, bind)
  const text = [
    `SELECT ${grouping.key} AS key, count(*) AS clicks, ${dialect.distinct('visitor')} AS visitors`,
    `FROM ${grouping.from} WHERE ${selectionSql(query, dialect, bind)}`,
    grouping.tail,
  ]
  return { text: text.join(' '), params, key: grouping.read }
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
  tail: string
  read(cell: unknown): HitAnswer['key']
}

function groupingSql(grouping: HitGrouping, dialect: Dialect, bind: Bind): GroupingSql {
  switch (grouping.by) {
    case 'total':
      return { key: 'NULL', from: 'hits', tail: '', read: () => null }
    case 'time':
      return {
        key: bucketSql(grouping.starts, bind),
        from: 'hits',
        tail: 'GROUP BY key ORDER BY key',
        read: Number,
      }
    case 'linkGroup':
      return linkGroupSql(grouping.groups, grouping.limit, dialect, bind)
    case 'linkId':
      return { key: 'link_id', from: 'hits', tail: topSql(grouping.limit, bind), read: Number }
    default:
      return {
        key: `coalesce(${COLUMNS[grouping.by]}, ${bind(grouping.nullAs)})`,
        from: 'hits',
        tail: topSql(grouping.limit, bind),
        read: String,
      }
  }
}

const topSql = (limit: number, bind: Bind) => `GROUP BY key ORDER BY clicks DESC, key LIMIT ${bind(limit)}`

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
    tail: topSql(limit, bind),
    read: (cell) => names[Number(cell)] as string | number,
  }
}

const byName = (a: string | number, b: string | number) =>
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

function memberSql(column: HitColumn, values: (string | number)[], dialect: Dialect, bind: Bind): string {
  if (values.length === 0) return 'false'
  if (column === 'linkId') return dialect.memberOf(COLUMNS[column], bind(values.map(Number)))
  const texts = values.map(String)
  if (!CASELESS.has(column)) return dialect.memberOf(COLUMNS[column], bind(texts))
  return dialect.memberOf(dialect.lower(COLUMNS[column]), bind(texts.map((text) => text.toLowerCase())))
}
