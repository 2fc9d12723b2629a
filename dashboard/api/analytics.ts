// Questions about clicks, leads and the way from one to the other.

import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { ClickBucket, ClickTotals } from '../../server/features/analytics/schema.ts'
import type { FormResource } from '../../server/features/forms/schema.ts'
import type { TagResource } from '../../server/features/links/schema.ts'
import type { Api, QueryParameters } from './client.ts'

export type Subject = 'clicks' | 'leads'
export type FunnelBy = 'link' | 'tag' | 'campaign' | 'referrer' | 'country'

/** `count` is of clicks or of leads, as was asked. */
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
  /** As a filter takes it. */
  value: string
  /** What the API calls it, where the value is an id. */
  name?: string
  detail?: string
  deleted?: boolean
}

export interface FunnelStages {
  clicks: number
  visits: number
  leads: number
  rate: number | null
}
export interface FunnelRow extends FunnelStages {
  value: string
  name?: string
}

type RawTotals = z.infer<typeof ClickTotals> & { leads?: number }
type RawBucket = z.infer<typeof ClickBucket> & { leads?: number }
/** A row of any grouping: its own word, what an id is called, and counts. */
interface RawRow {
  [word: string]: string | number | boolean | null | undefined
}

const toCounts = (raw: { clicks?: unknown; leads?: unknown; visitors?: unknown }): EventCounts => ({
  count: Number(raw.clicks ?? raw.leads ?? 0),
  visitors: Number(raw.visitors ?? 0),
})

/** Everything below starts with it, so that it can be asked again when something has happened. */
export const analyticsKey = (api: Api) => [api.workspaceId, 'analytics']

/** Of the range, or of the one before it, in which nothing happens any more. */
type PeriodKind = 'now' | 'before'

export const totalQuery = (api: Api, subject: Subject, query: QueryParameters, of: PeriodKind = 'now') =>
  queryOptions({
    queryKey: [...analyticsKey(api), 'total', of, subject, query],
    queryFn: async ({ signal }): Promise<Totals> => {
      const raw = await api.get<RawTotals>(`/analytics/${subject}`, { query, signal })
      return { ...toCounts(raw), start: raw.start, end: raw.end }
    },
  })

export const timelineQuery = (api: Api, subject: Subject, query: QueryParameters, of: PeriodKind = 'now') =>
  queryOptions({
    queryKey: [...analyticsKey(api), 'time', of, subject, query],
    queryFn: async ({ signal }): Promise<TimelineBucket[]> => {
      const asked = { ...query, groupBy: 'time' }
      const raw = await api.get<RawBucket[]>(`/analytics/${subject}`, { query: asked, signal })
      return raw.map((bucket) => ({ ...toCounts(bucket), time: bucket.time }))
    },
  })

/** The words that rows carry where they are not called like the filter. */
const ROW_KEYS: Record<string, string> = { linkId: 'link', tagId: 'tag' }

function toRow(
  word: string,
  raw: RawRow,
): { value: string; name?: string; detail?: string; deleted?: boolean } {
  const value = String(raw[word] ?? 0)
  if (word === 'link') {
    return {
      value,
      name: raw.slug ? `${raw.domain}/${raw.slug}` : undefined,
      detail: typeof raw.destinationUrl === 'string' ? raw.destinationUrl : undefined,
      deleted: raw.deleted === true,
    }
  }
  return { value, name: typeof raw.name === 'string' ? raw.name : undefined }
}

/** Most first. @param dimension the name of a filter */
export const topListQuery = (
  api: Api,
  subject: Subject,
  dimension: string,
  query: QueryParameters,
  limit = 100,
) =>
  queryOptions({
    queryKey: [...analyticsKey(api), 'top', subject, dimension, query, limit],
    queryFn: async ({ signal }): Promise<BreakdownRow[]> => {
      const word = ROW_KEYS[dimension] ?? dimension
      const asked = { ...query, groupBy: word, limit }
      const raw = await api.get<RawRow[]>(`/analytics/${subject}`, { query: asked, signal })
      return raw.map((each) => ({ ...toRow(word, each), ...toCounts(each) }))
    },
  })

export const funnelQuery = (api: Api, query: QueryParameters) =>
  queryOptions({
    queryKey: [...analyticsKey(api), 'funnel', query],
    queryFn: ({ signal }) => api.get<FunnelStages>('/analytics/funnel', { query, signal }),
  })

export const funnelRowsQuery = (api: Api, by: FunnelBy, query: QueryParameters, limit: number) =>
  queryOptions({
    queryKey: [...analyticsKey(api), 'funnel', by, query, limit],
    queryFn: async ({ signal }): Promise<FunnelRow[]> => {
      const asked = { ...query, groupBy: by, limit }
      const raw = await api.get<(RawRow & FunnelStages)[]>('/analytics/funnel', { query: asked, signal })
      return raw.map((each) => {
        const { clicks, visits, leads, rate } = each
        return { ...toRow(by, each), clicks, visits, leads, rate }
      })
    },
  })

const NAMES_STALE_MS = 60_000

/** What ids in filters are called. Clicks name deleted links as well; asking for each link would be a 404 for those. */
export const valueNamesQuery = (api: Api, dimension: 'linkId' | 'tagId' | 'form', ids: string[]) =>
  queryOptions({
    queryKey: [api.workspaceId, 'names', dimension, dimension === 'linkId' ? ids : null],
    queryFn: async ({ signal }): Promise<Record<string, string>> => {
      if (dimension === 'tagId') {
        const tags = await api.page<TagResource>('/tags', { query: { limit: 100 }, signal })
        return Object.fromEntries(tags.data.map(({ id, name }) => [String(id), name]))
      }
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

export type ClickExportFormat = 'csv' | 'ndjson' | 'parquet'

/** The clicks themselves, as a file with the name that the server gives it. */
export async function exportClicks(api: Api, query: QueryParameters, format: ClickExportFormat) {
  const answer = await api.raw('/analytics/clicks/export', { query: { ...query, format } })
  const named = /filename=([\w.-]+)/.exec(answer.headers.get('content-disposition') ?? '')
  return { file: await answer.blob(), name: named?.[1] ?? `clicks.${format}` }
}
