// Builds the SQL statement of a question about clicks. Every value is bound, and every name comes from a closed map. A
// dialect of a dozen lines has the differences between engines.

import { DAY_MS } from '../../lib/utc-day.ts'
import {
  createBinder,
  type Statement,
  toAnyOfSql,
  toBucketSql,
  toFilterSql,
  toMemberSql,
  type ValueBinder,
} from '../filter-sql.ts'
import { isOriginDimension, toOriginExpression } from '../sources/origin-sql.ts'
import { QUERY_COLUMNS } from './hit-columns.ts'
import type { HitDialect, StoredExpression } from './hit-dialect.ts'
import {
  type HitAnswer,
  type HitColumn,
  type HitFilter,
  type HitGrouping,
  type HitQuery,
  type HitSelection,
  LINK_DAYS,
  type OriginFilter,
  type OriginGrouping,
  type OwnColumn,
} from './hit-engine.ts'
import { toHitOriginFilterSql, toTopOriginsSql } from './hit-origin-sql.ts'
import { isParamColumn, toParamName } from './kept-params.ts'
import { compareKeys, type VisitorShare } from './visitor-shares.ts'

/** Dimensions whose value changes from click to click. In the other dimensions nearly every visitor has one value. */
const CLICK_COLUMNS: ReadonlySet<HitColumn> = new Set([
  'referrer',
  'referrerUrl',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
])
/** The key of a link on a day, for `readLinkDay`. */
const LINK_DAY = `(link_id * ${LINK_DAYS} + CAST((recorded_at - recorded_at % ${DAY_MS}) / ${DAY_MS} AS BIGINT))`
/** One bit for each key, in a signed number of 64 bits. */
const KEYS_PER_BITMAP = 62

/** Converts the first cell of a row to the key of the answer. */
type KeyReader = (cell: unknown) => HitAnswer['key']

export function toHitSql(query: HitQuery, dialect: HitDialect, share?: VisitorShare): Statement<HitAnswer[]> {
  const { params, bind } = createBinder(dialect)
  const visitors = share ? ` AND visitor % ${bind(share.of)} = ${bind(share.number)}` : ''
  const where = toSelectionSql(query, dialect, bind)
  const { groupBy } = query
  const finish = (text: string, readKey: KeyReader): Statement<HitAnswer[]> => ({
    text,
    params,
    read: (rows) =>
      rows.map(([key, clicks, visitors]) => ({
        key: readKey(key),
        clicks: Number(clicks),
        visitors: Number(visitors),
      })),
  })
  if (isOriginGrouping(groupBy) && !('lookUp' in dialect))
    return finish(toTopOriginsSql(groupBy, { where, visitors }, dialect, bind), String)
  const { key, from, limit, readKey, stored } = toGroupingSql(groupBy, dialect, bind)
  const mostFirst = 'GROUP BY key ORDER BY clicks DESC, key'
  const top = limit === undefined ? '' : ` LIMIT ${bind(limit)}`
  const toCountSql = (condition: string) =>
    `SELECT ${key} AS key, count(*) AS clicks, ${dialect.countVisitors} AS visitors FROM ${from} WHERE ${condition}`
  if (groupBy.by === 'total') return finish(toCountSql(where + visitors), readKey)
  if (groupBy.by === 'time')
    return finish(`${toCountSql(where + visitors)} GROUP BY key ORDER BY key`, readKey)
  if (!share && stored && (limit ?? 0) <= KEYS_PER_BITMAP)
    return finish(toTopSql(stored, where, top), readKey)
  if (!share && groupBy.by !== 'linkId') return finish(`${toCountSql(where)} ${mostFirst}${top}`, readKey)
  // Finds the top keys first, and then counts only their visitors.
  const first = `SELECT ${key} AS key, count(*) AS clicks FROM ${from} WHERE ${where} ${mostFirst}${top}`
  return finish(
    `${toCountSql(`${where} AND ${key} IN (SELECT key FROM (${first}) AS first)${visitors}`)} ${mostFirst}`,
    readKey,
  )
}

/**
 * Finds the keys first, and then gives each visitor one number with a bit for each key. This takes hardly longer than
 * counting visitors. Counting pairs of key and visitor takes three to five times as much time and memory.
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
    `seen AS (SELECT visitor, bit_or(bit) AS bits FROM asked JOIN few ON ${same.join(' AND ')} GROUP BY visitor),`,
    'alike AS (SELECT bits, count(nullif(visitor, 0)) AS visitors FROM seen GROUP BY bits)',
    'SELECT key, clicks, sum(visitors) AS visitors FROM numbered JOIN alike ON (bits >> place) % 2 = 1',
    'GROUP BY key, clicks ORDER BY clicks DESC, key',
  ].join(' ')
}

/** The condition of a selection of hits. */
export function toSelectionSql(selection: HitSelection, dialect: HitDialect, bind: ValueBinder): string {
  const range = [
    `workspace_id = ${bind(selection.workspaceId)}`,
    `recorded_at >= ${bind(selection.start)}`,
    `recorded_at < ${bind(selection.end)}`,
  ].join(' AND ')
  // The name of a parameter is bound, and every bound value of a statement must be used.
  const toNames = ({ column, values }: HitFilter) =>
    ({ [column]: values.length === 0 ? '' : toColumnSql(column, dialect, bind) }) as Record<HitColumn, string>
  const toCondition = (filter: HitFilter) =>
    isOriginFilter(filter) && !('lookUp' in dialect)
      ? toHitOriginFilterSql(filter, range, dialect, bind)
      : toFilterSql(filter, toNames(filter), dialect, bind)
  return [
    range,
    toAnyOfSql('outcome', selection.outcomes ?? ['redirect'], dialect, bind),
    toMemberSql('class', selection.classes, QUERY_COLUMNS, dialect, bind),
    ...(selection.imported === undefined ? [] : [`import_id IS ${selection.imported ? 'NOT ' : ''}NULL`]),
    ...selection.filters.map(toCondition),
  ].join(' AND ')
}

function toColumnSql(column: HitColumn, dialect: HitDialect, bind: ValueBinder): string {
  if (isParamColumn(column)) return dialect.paramValue(toParamName(column), bind)
  return 'lookUp' in dialect && isOriginDimension(column)
    ? toOriginExpression(column, dialect, bind)
    : QUERY_COLUMNS[column as OwnColumn]
}

const isOriginFilter = (filter: HitFilter): filter is OriginFilter => isOriginDimension(filter.column)
export const isOriginGrouping = (grouping: HitGrouping): grouping is OriginGrouping =>
  isOriginDimension(grouping.by)

interface GroupingSql {
  key: string
  from: string
  limit?: number
  /** The stored form of the key, if `toTopSql` is the best way to count its visitors. */
  stored?: StoredExpression
  readKey: KeyReader
}

export function toGroupingSql(grouping: HitGrouping, dialect: HitDialect, bind: ValueBinder): GroupingSql {
  switch (grouping.by) {
    case 'total':
      return { key: 'NULL', from: 'hits', readKey: () => null }
    case 'time':
      return { key: toBucketSql('recorded_at', grouping.starts, bind), from: 'hits', readKey: Number }
    case 'linkDay':
      return { key: LINK_DAY, from: 'hits', readKey: Number }
    case 'linkGroup':
      return toLinkGroupSql(grouping.groups, grouping.limit, dialect, bind)
    case 'linkId':
      return {
        key: 'link_id',
        from: 'hits',
        limit: grouping.limit,
        stored: 'storedAs' in dialect ? dialect.storedAs('linkId') : undefined,
        readKey: Number,
      }
    default: {
      const nullAs = bind(grouping.nullAs)
      const nameNull = (value: string) => `coalesce(${value}, ${nullAs})`
      const isStored = 'storedAs' in dialect && CLICK_COLUMNS.has(grouping.by)
      const stored = isStored ? dialect.storedAs(grouping.by as OwnColumn) : undefined
      return {
        key: nameNull(toColumnSql(grouping.by, dialect, bind)),
        from: 'hits',
        limit: grouping.limit,
        stored: stored && { ...stored, value: nameNull(stored.value) },
        readKey: String,
      }
    }
  }
}

/**
 * Groups are bound as numbers in the order of their names. So ties have that order, and each name is sent once.
 */
function toLinkGroupSql(
  groups: { linkId: number; group: string | number }[],
  limit: number,
  dialect: HitDialect,
  bind: ValueBinder,
): GroupingSql {
  // An engine cannot infer the type of an empty list. No link has an id below 0.
  const members = groups.length > 0 ? groups : [{ linkId: -1, group: '' }]
  const names = [...new Set(members.map(({ group }) => group))].sort(compareKeys)
  const slots = new Map(names.map((name, slot) => [name, slot]))
  const distinct = new Map(members.map((member) => [`${member.linkId}/${slots.get(member.group)}`, member]))
  const pairs = dialect.pairs(
    bind([...distinct.values()].map(({ linkId }) => linkId)),
    bind([...distinct.values()].map(({ group }) => slots.get(group) as number)),
  )
  return {
    key: 'slot',
    from: `hits JOIN ${pairs} AS groups USING (link_id)`,
    limit,
    readKey: (cell) => names[Number(cell)] as string | number,
  }
}
