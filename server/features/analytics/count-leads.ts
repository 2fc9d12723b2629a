// Counts leads in the database: with one statement for each question on PostgreSQL, and with some of bounded size on
// SQLite.

import { CONTINENTS } from '../../storage/continents.ts'
import type { Database } from '../../storage/database/database.ts'
import { type DatabaseDialect, queryRaw } from '../../storage/database/raw-query.ts'
import { toNullLabel } from '../../storage/filter-grammar.ts'
import {
  type ColumnFilter,
  type FilterDialect,
  toAnyOfSql,
  toBucketSql,
  toFilterSql,
  type ValueBinder,
} from '../../storage/filter-sql.ts'
import { HIT_DIMENSIONS, type HitDimension } from '../../storage/hits/hit.ts'
import { isOriginDimension, type OriginDimension, toOriginSql } from '../../storage/sources/origin-sql.ts'
import {
  type AttributionModel,
  NO_LINK,
  PARTS_PER_LEAD,
  toCreditedLeadsSql,
  toCreditedOutcomesSql,
} from './attribution-model.ts'
import { ORIGIN_ROW_COLUMNS, type OriginRow, splitOriginFilters, toOriginParts } from './lead-origins.ts'
import { listLeadRanges } from './lead-ranges.ts'
import { createLeadSum, type GroupParts, type VisitorParts } from './merge-leads.ts'
import { createRangeSelector } from './narrow-link-filters.ts'
import type { TimeRange } from './timeline.ts'

/** Dimensions of the API that are columns of a lead, or of the touch that gets its credit. */
export type LeadDimension = Exclude<HitDimension, 'referrerUrl' | 'trigger'>
export const LEAD_DIMENSIONS = HIT_DIMENSIONS.filter(
  (name): name is LeadDimension => name !== 'referrerUrl' && name !== 'trigger',
)
export type LeadColumn = LeadDimension | OriginDimension | 'linkId' | 'form' | 'page'

const continentCases = Map.groupBy(CONTINENTS.keys(), (country) => CONTINENTS.get(country) as string)

/** Leads with pending attribution have no known link yet. They do not count as leads without a link. */
const LINK_IS_DECIDED = '(credited.link_id IS NOT NULL OR credited.attribution_due = 0)'

/** SQL of each dimension of a credited lead. */
export const LEAD_COLUMN_SQL: Record<LeadColumn, string> = {
  linkId: `coalesce(credited.link_id, ${NO_LINK})`,
  form: 'form_key',
  page: 'page_url',
  country: 'country',
  region: 'region',
  city: 'city',
  continent: `CASE ${[...continentCases]
    .map(([continent, countries]) => `WHEN country IN ('${countries.join("','")}') THEN '${continent}'`)
    .join(' ')} END`,
  device: 'device',
  browser: 'browser',
  os: 'os',
  referrer: 'referrer',
  utmSource: 'utm_source',
  utmMedium: 'utm_medium',
  utmCampaign: 'utm_campaign',
  utmTerm: 'utm_term',
  utmContent: 'utm_content',
  source: 'source',
  channel: 'channel',
  variant: 'variant',
}

export interface LeadSelection extends TimeRange {
  workspaceId: number
  model: AttributionModel
  filters: ColumnFilter<LeadColumn>[]
  /** Only leads that a click of a link brought, and that click not before this time. */
  clickedSince?: number
}

export type LeadGrouping =
  | { by: 'total' }
  | { by: 'time'; starts: number[] }
  /** A lead counts once for each tag of its link; with `among`, only for these tags. */
  | { by: 'tagId'; limit: number; among?: { ids: number[]; negate: boolean } }
  /** Current domain or slug of the links: '' is the default domain, and slugs are in lower case. */
  | { by: 'domain' | 'slug'; limit: number }
  | { by: LeadColumn; limit: number }

/** A row as in the answers of the hit engine, with `leads` in place of `clicks`. */
export interface LeadCount {
  key: string | number | null
  leads: number
  visitors: number
}

export async function countLeads(
  db: Database,
  selection: LeadSelection,
  grouping: LeadGrouping,
): Promise<LeadCount[]> {
  if (grouping.by === 'time') return countBuckets(db, selection, grouping.starts)
  return queryLeads(db, selection, grouping)
}

async function queryLeads(
  db: Database,
  selection: LeadSelection,
  grouping: LeadGrouping,
): Promise<LeadCount[]> {
  const rows = await (db.engine === 'sqlite' ? queryRanges : queryOnce)(db, selection, grouping)
  return rows.map(({ key, parts, visitors }) => ({
    key: toGroupKey(key, grouping),
    leads: Number(parts) / PARTS_PER_LEAD,
    visitors: Number(visitors),
  }))
}

/** PostgreSQL answers large numbers as texts. */
export function toGroupKey(key: string | number | null, { by }: LeadGrouping): LeadCount['key'] {
  if (key === null) return null
  return by === 'time' || by === 'linkId' || by === 'tagId' ? Number(key) : String(key)
}

type QueryGroups = (db: Database, selection: LeadSelection, grouping: LeadGrouping) => Promise<GroupParts[]>

/** PostgreSQL runs queries in other processes. */
const queryOnce: QueryGroups = (db, selection, grouping) =>
  queryRaw(db, (dialect, bind) => {
    const { counted, tail } = toCountedSql(selection, grouping, dialect, bind)
    const limit = 'limit' in grouping ? `LIMIT ${bind(grouping.limit)}` : ''
    return `${counted}
      SELECT ${tail === '' ? 'NULL AS key' : 'key'}, sum(part) AS parts, count(DISTINCT visitor) AS visitors
      FROM counted ${tail} ${limit}`
  })

const queryRanges: QueryGroups = async (db, selection, grouping) => {
  const sum = createLeadSum()
  const { stored, origins } = splitOriginFilters(selection.filters)
  const groupBy = isOriginDimension(grouping.by)
    ? { dimension: grouping.by, nullAs: toNullLabel(grouping.by) }
    : null
  const storedGrouping: LeadGrouping = groupBy ? { by: 'total' } : grouping
  const needsOrigins = groupBy !== null || origins.length > 0
  const columns = needsOrigins ? `visitor, ${ORIGIN_ROW_COLUMNS}` : 'visitor'
  const selectRange = createRangeSelector(db, { ...selection, filters: stored })
  for await (const range of listLeadRanges(db, selection)) {
    const ofRange = await selectRange(range)
    const rows = await queryRaw<VisitorParts & OriginRow>(db, (dialect, bind) => {
      const { counted } = toCountedSql(ofRange, storedGrouping, dialect, bind, columns)
      return `${counted} SELECT key, ${columns}, sum(part) AS parts FROM counted GROUP BY key, ${columns}`
    })
    sum.add(needsOrigins ? toOriginParts(rows, origins, groupBy) : rows)
  }
  if (grouping.by === 'total') return [(await sum.list('key'))[0] ?? { key: null, parts: 0, visitors: 0 }]
  if (grouping.by === 'time') return sum.list('key')
  return sum.list('parts', grouping.limit)
}

/** The leads of a selection with their parts, and the condition of its filters. On SQLite, none may be about origins. */
export function toSelectedLeadsSql(
  selection: LeadSelection,
  {
    origins,
    aboutLinks = false,
    outcomeIds,
  }: {
    /** The columns that the caller needs in addition to those of the filters. */
    origins: readonly OriginDimension[]
    aboutLinks?: boolean
    /** These outcomes and their leads, whenever the leads came. */
    outcomeIds?: number[]
  },
  dialect: DatabaseDialect,
  bind: ValueBinder,
): { credited: string; conditions: string[] } {
  const { filters, workspaceId, model } = selection
  const leads = outcomeIds
    ? toCreditedOutcomesSql(workspaceId, model, (id) => toAnyOfSql(id, outcomeIds, dialect, bind), bind)
    : toCreditedLeadsSql(selection, model, bind)
  const needed = [...origins, ...filters.map(({ column }) => column).filter(isOriginDimension)]
  const credited =
    needed.length === 0
      ? leads
      : `SELECT * FROM ${toOriginSql(`(${leads})`, needed, dialect as Required<DatabaseDialect>, bind)} AS origins`
  const conditions = filters.map((filter) => toFilterSql(filter, LEAD_COLUMN_SQL, dialect, bind))
  // Filters for domains, slugs and tags have become filters for links here.
  if (aboutLinks || filters.some(({ column }) => column === 'linkId')) conditions.push(LINK_IS_DECIDED)
  // Submissions from before the `touches` table do not know the time of their click.
  if (selection.clickedSince !== undefined)
    conditions.push(
      `credited.link_id IS NOT NULL AND coalesce(touched_at, created_at) >= ${bind(selection.clickedSince)}`,
    )
  return { credited, conditions: ['true', ...conditions] }
}

export function toCountedSql(
  selection: LeadSelection,
  grouping: LeadGrouping,
  dialect: DatabaseDialect,
  bind: ValueBinder,
  columns = 'visitor',
  outcomeIds?: number[],
): { counted: string; tail: string } {
  const { key, from, tail, where = [] } = toGroupingSql(grouping, selection.workspaceId, dialect, bind)
  const origins = isOriginDimension(grouping.by) ? [grouping.by] : []
  const aboutLinks = ['linkId', 'domain', 'slug'].includes(grouping.by)
  const needed = { origins, aboutLinks, outcomeIds }
  const { credited, conditions } = toSelectedLeadsSql(selection, needed, dialect, bind)
  // The CTE names the key first, because PostgreSQL cannot group by an expression with bound values.
  const counted = `WITH credited AS (${credited}), counted AS (
    SELECT ${key} AS key, ${columns}, part FROM ${from} WHERE ${[...where, ...conditions].join(' AND ')})`
  return { counted, tail }
}

interface GroupingSql {
  key: string
  from: string
  tail: string
  where?: string[]
}

function toGroupingSql(
  grouping: LeadGrouping,
  workspaceId: number,
  dialect: FilterDialect,
  bind: ValueBinder,
): GroupingSql {
  if (grouping.by === 'total') return { key: 'NULL', from: 'credited', tail: '' }
  const perKey = 'GROUP BY key ORDER BY key'
  if (grouping.by === 'time') {
    return { key: toBucketSql('created_at', grouping.starts, bind), from: 'credited', tail: perKey }
  }
  const tail = 'GROUP BY key ORDER BY parts DESC, key NULLS FIRST'
  const link = (table: string, id: string) =>
    `${table} ON ${table}.${id} = credited.link_id AND ${table}.workspace_id = ${bind(workspaceId)}`
  switch (grouping.by) {
    case 'tagId':
      return {
        key: 'tag_id',
        from: `credited JOIN ${link('link_tags', 'link_id')}`,
        tail,
        where: grouping.among && [amongSql('tag_id', grouping.among, dialect, bind)],
      }
    case 'domain':
      return { key: 'links.domain', from: `credited LEFT JOIN ${link('links', 'id')}`, tail }
    case 'slug':
      return { key: 'links.slug_key', from: `credited LEFT JOIN ${link('links', 'id')}`, tail }
    case 'linkId':
      return { key: LEAD_COLUMN_SQL.linkId, from: 'credited', tail }
    default: {
      const key = `coalesce(${LEAD_COLUMN_SQL[grouping.by]}, ${bind(toNullLabel(grouping.by))})`
      return { key, from: 'credited', tail }
    }
  }
}

const amongSql = (
  column: string,
  { ids, negate }: { ids: number[]; negate: boolean },
  dialect: FilterDialect,
  bind: ValueBinder,
) => `${negate ? 'NOT ' : ''}${toAnyOfSql(column, ids, dialect, bind)}`

/**
 * Counts only the buckets between the first and the last submission of the range. A range of 800 years would make a
 * statement with thousands of months, and few of them have submissions.
 */
async function countBuckets(db: Database, selection: LeadSelection, starts: number[]): Promise<LeadCount[]> {
  const { workspaceId, start, end } = selection
  const firstAndLast = (['asc', 'desc'] as const).map((order) =>
    db.read
      .selectFrom('submissions')
      .select('created_at')
      .where('workspace_id', '=', workspaceId)
      .where('created_at', '>=', start)
      .where('created_at', '<', end)
      .orderBy('created_at', order)
      .limit(1)
      .executeTakeFirst(),
  )
  const [first, last] = await Promise.all(firstAndLast)
  if (!first || !last) return []
  const from = starts.findLastIndex((each) => each <= first.created_at)
  const to = starts.findLastIndex((each) => each <= last.created_at) + 1
  // The end of the last bucket excludes submissions that are stored meanwhile for later buckets.
  const range = { ...selection, end: Math.min(end, starts[to] ?? end) }
  return queryLeads(db, range, { by: 'time', starts: starts.slice(from, to) })
}
