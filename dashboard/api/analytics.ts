// Analytics over the REST API: totals, timelines and top lists of clicks and leads, the funnel, and the export.

import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { ClickBucket, ClickTotals } from '../../server/features/analytics/schema.ts'
import type { FormResource } from '../../server/features/forms/schema.ts'
import type { TagResource } from '../../server/features/links/schema.ts'
import { askAnalytics } from './analytics-batch.ts'
import type { Api, QueryParameters } from './client.ts'
import { readList } from './pages.ts'

export type Subject = 'clicks' | 'leads'
export type FunnelBy = 'link' | 'tag' | 'campaign' | 'source' | 'channel' | 'referrer' | 'country'

/** `count` counts clicks or leads, depending on the subject of the query. */
export interface EventCounts {
  count: number
  visitors: number
}
export interface Totals extends EventCounts {
  start: string
  end: string
}
export interface TimelineBucket extends EventCounts {
  time: string
}
export interface BreakdownRow extends EventCounts {
  /** In the form that a filter parameter takes. */
  value: string
  /** The name that the API gives for an id. */
  name?: string
  detail?: string
  deleted?: boolean
}

export interface FunnelStages {
  clicks: number
  visits: number
  leads: number
  rate: number | null
  qualified: number
  won: number
  /** Decimal text; null where nothing was won with a value. */
  value: string | null
}
/** The currency of the values, and the currencies of other values of the range. */
export interface FunnelTotals extends FunnelStages {
  currency?: string
  otherCurrencies?: string[]
}
export interface FunnelRow extends Omit<FunnelStages, 'value'> {
  value: string
  money: string | null
  name?: string
}

type RawTotals = z.infer<typeof ClickTotals> & { leads?: number }
type RawBucket = z.infer<typeof ClickBucket> & { leads?: number }
/** A row of any grouping: the group's key, the name of an id, and counts. */
interface RawRow {
  [key: string]: string | number | boolean | null | undefined
}

const toCounts = (raw: { clicks?: unknown; leads?: unknown; visitors?: unknown }): EventCounts => ({
  count: Number(raw.clicks ?? raw.leads ?? 0),
  visitors: Number(raw.visitors ?? 0),
})

/** The prefix of every query key below, so that all of them can be invalidated at once. */
export const analyticsKey = (api: Api) => [api.workspaceId, 'analytics']

/**
 * The current range, or the previous period. The previous period no longer changes, so that its answers stay cached.
 */
type PeriodKind = 'now' | 'before'

export const totalQuery = (api: Api, subject: Subject, query: QueryParameters, period: PeriodKind = 'now') =>
  queryOptions({
    queryKey: [...analyticsKey(api), 'total', period, subject, query],
    queryFn: async (): Promise<Totals> => {
      const { data: raw } = await askAnalytics<{ data: RawTotals }>(api, subject, query)
      return { ...toCounts(raw), start: raw.start, end: raw.end }
    },
  })

export const timelineQuery = (
  api: Api,
  subject: Subject,
  query: QueryParameters,
  period: PeriodKind = 'now',
) =>
  queryOptions({
    queryKey: [...analyticsKey(api), 'time', period, subject, query],
    queryFn: async (): Promise<TimelineBucket[]> => {
      const parameters = { ...query, groupBy: 'time' }
      const { data } = await askAnalytics<{ data: RawBucket[] }>(api, subject, parameters)
      return data.map((bucket) => ({ ...toCounts(bucket), time: bucket.time }))
    },
  })

/** The keys of rows that are named differently from their filter. */
const ROW_KEYS: Record<string, string> = { linkId: 'link', tagId: 'tag' }

function toRow(
  key: string,
  raw: RawRow,
): { value: string; name?: string; detail?: string; deleted?: boolean } {
  const value = String(raw[key] ?? 0)
  if (key === 'link') {
    return {
      value,
      name: raw.slug ? `${raw.domain}/${raw.slug}` : undefined,
      detail: typeof raw.destinationUrl === 'string' ? raw.destinationUrl : undefined,
      deleted: raw.deleted === true,
    }
  }
  return { value, name: typeof raw.name === 'string' ? raw.name : undefined }
}

/** Rows with the highest count first. @param dimension the name of a filter */
export const topListQuery = (
  api: Api,
  subject: Subject,
  dimension: string,
  query: QueryParameters,
  limit = 100,
) =>
  queryOptions({
    queryKey: [...analyticsKey(api), 'top', subject, dimension, query, limit],
    queryFn: async (): Promise<BreakdownRow[]> => {
      const key = ROW_KEYS[dimension] ?? dimension
      const parameters = { ...query, groupBy: key, limit }
      const { data } = await askAnalytics<{ data: RawRow[] }>(api, subject, parameters)
      return data.map((each) => ({ ...toRow(key, each), ...toCounts(each) }))
    },
  })

export const funnelQuery = (api: Api, query: QueryParameters) =>
  queryOptions({
    queryKey: [...analyticsKey(api), 'funnel', query],
    queryFn: async (): Promise<FunnelTotals> => {
      const { data, ...money } = await askAnalytics<{ data: FunnelStages }>(api, 'funnel', query)
      return { ...data, ...money }
    },
  })

export const funnelRowsQuery = (api: Api, by: FunnelBy, query: QueryParameters, limit: number) =>
  queryOptions({
    queryKey: [...analyticsKey(api), 'funnel', by, query, limit],
    queryFn: async ({ signal }): Promise<FunnelRow[]> => {
      const parameters = { ...query, groupBy: by, limit }
      const raw = await api.get<(RawRow & FunnelStages)[]>('/analytics/funnel', { query: parameters, signal })
      return raw.map((each) => ({ ...each, money: each.value, ...toRow(by, each) }))
    },
  })

const NAMES_STALE_MS = 60_000

/**
 * Names of the ids in a filter. Links are named by the clicks query, because it also knows deleted links; GET
 * /links/{id} answers 404 for them.
 */
export const valueNamesQuery = (api: Api, dimension: 'linkId' | 'tagId' | 'form', ids: string[]) =>
  queryOptions({
    queryKey: [api.workspaceId, 'names', dimension, dimension === 'form' ? null : ids],
    queryFn: async ({ signal }): Promise<Record<string, string>> => {
      if (dimension === 'tagId') return readTagNames(api, ids, signal)
      if (dimension === 'form') {
        const forms = await api.page<FormResource>('/forms', { query: { limit: 100 }, signal })
        return Object.fromEntries(forms.data.map(({ formKey, name }) => [formKey, name]))
      }
      const query = { groupBy: 'link', linkId: ids.join(','), interval: 'all', class: 'all' }
      const links = await api.get<RawRow[]>('/analytics/clicks', { query, signal })
      return Object.fromEntries(
        links.flatMap((raw) => {
          const { value, name } = toRow('link', raw)
          return name ? [[value, name]] : []
        }),
      )
    },
    staleTime: NAMES_STALE_MS,
  })

/** Reads the list until it has all of them. */
async function readTagNames(api: Api, ids: string[], signal: AbortSignal): Promise<Record<string, string>> {
  const names: Record<string, string> = {}
  for await (const { id, name } of readList<TagResource>(api, '/tags', { signal })) {
    names[id] = name
    if (ids.every((each) => names[each] !== undefined)) break
  }
  return names
}

export const EXPORT_FORMATS = {
  clicks: ['csv', 'ndjson', 'parquet'],
  leads: ['csv', 'ndjson'],
} as const
export type ExportFormat = (typeof EXPORT_FORMATS)[Subject][number]

/** Exports single clicks or leads. */
export const exportEvents = (api: Api, subject: Subject, query: QueryParameters, format: ExportFormat) =>
  api.file(`/analytics/${subject}/export`, { ...query, format })
