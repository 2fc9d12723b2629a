// Submissions over the REST API: the inbox with its filters, one submission, its attribution, and exports.

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type {
  SubmissionResource,
  SubmissionStatus,
  TouchResource,
} from '../../server/features/forms/submissions/schema.ts'
import { type Api, ApiError, type QueryParameters, type ResultPage } from './client.ts'
import { inPages, readList, toChunks } from './pages.ts'
import { pollEvery } from './session.ts'

/**
 * The fields are a plain object here. Its order is the sender's, except that JavaScript puts whole-number names
 * first.
 */
export type Submission = Omit<SubmissionResource, 'fields'> & { fields: Record<string, string> }
export type SubmissionState = Pick<Submission, 'id' | 'status'>
export type { SubmissionStatus, TouchResource }

/** The filters in the inbox's address. Without a status, the inbox shows new and read submissions. */
export interface InboxFilter {
  formKey?: string
  status?: string
  search?: string
  linkId?: string
  country?: string
  utmSource?: string
  /** The stage of the lead's latest outcome; `new` without an outcome. */
  stage?: string
  /** The id of a member, or `none`. */
  assignee?: string
  /** Days (`2026-11-21`) in the viewer's time zone. */
  start?: string
  end?: string
}

const PAGE_SIZE = 50
const NEWEST_COUNT = 25
/** With the time of the request, a submission appears within two seconds. */
const POLL_MS = 1500

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text)

/** The first moment of a day in the viewer's time zone, plus `later` days. */
function toInstant(day: string, later = 0): string {
  const at = new Date(`${day}T00:00:00`)
  if (!isDay(day) || Number.isNaN(at.getTime())) return day
  at.setDate(at.getDate() + later)
  return at.toISOString()
}

/** The statuses that a filter shows; undefined for all of them. */
export const toStatuses = ({ status = 'new,read' }: InboxFilter) =>
  status === 'all' ? undefined : status.split(',')

export const includesStatus = (filter: InboxFilter, status: SubmissionStatus) =>
  toStatuses(filter)?.includes(status) ?? true

const toQueryParameters = ({ start, end, stage, assignee, ...filter }: InboxFilter): QueryParameters => ({
  ...filter,
  latestStage: stage,
  assigneeId: assignee,
  status: toStatuses(filter)?.join(','),
  start: start && toInstant(start),
  end: end && toInstant(end, 1),
})

export const inboxQuery = (api: Api, filter: InboxFilter) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'submissions', 'list', filter],
    ...inPages<Submission>(api, '/submissions', { ...toQueryParameters(filter), limit: PAGE_SIZE }),
    // inboxPollQuery reports new submissions.
    staleTime: 30_000,
  })

const POLL_SIZE = 10

/**
 * Polls for new and changed submissions while the inbox is open. The query has no filters: with filters it would cost
 * the server ten times as much.
 */
export const inboxPollQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'pulse'],
    queryFn: ({ signal }) => api.page<Submission>('/submissions', { query: { limit: POLL_SIZE }, signal }),
    select: ({ data, total }) =>
      [
        total,
        ...data.map(
          ({ id, status, attribution, outcomes, assigneeId, notes }) =>
            `${id} ${status} ${attribution} ${JSON.stringify(outcomes)} ${assigneeId} ${notes ?? ''}`,
        ),
      ].join('\n'),
    refetchInterval: pollEvery(POLL_MS),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })

/** The newest submissions that match the filter, loaded whenever the poll reports a change. */
export const newestSubmissionsQuery = (api: Api, filter: InboxFilter, pulse: string | undefined) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'head', filter, pulse],
    queryFn: ({ signal }): Promise<ResultPage<Submission>> =>
      api.page<Submission>('/submissions', {
        query: { ...toQueryParameters(filter), limit: NEWEST_COUNT },
        signal,
      }),
    enabled: pulse !== undefined,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })

/** @returns the number of submissions that match the filter */
export const submissionCountQuery = (api: Api, filter: InboxFilter & { email?: string }) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'count', filter],
    queryFn: async ({ signal }) =>
      (
        await api.page<Submission>('/submissions', {
          query: { ...toQueryParameters(filter), limit: 1 },
          signal,
        })
      ).total,
  })

/** @returns the newest submissions that match the filter, at most `max` */
export async function listSubmissionStates(
  api: Api,
  filter: InboxFilter,
  max: number,
): Promise<SubmissionState[]> {
  const states: SubmissionState[] = []
  for await (const { id, status } of readList<Submission>(api, '/submissions', {
    query: toQueryParameters(filter),
  })) {
    if (states.push({ id, status }) === max) break
  }
  return states
}

export const submissionQuery = (api: Api, id: string) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'one', id],
    queryFn: ({ signal }) => api.get<Submission>(`/submissions/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.attribution === 'pending' ? POLL_MS : false),
  })

export const attributionQuery = (api: Api, { id, attribution }: Submission) =>
  queryOptions({
    // The touches change when the attribution is decided.
    queryKey: [api.workspaceId, 'submissions', 'attribution', id, attribution],
    queryFn: ({ signal }) => api.get<TouchResource[]>(`/submissions/${id}/attribution`, { signal }),
    // A decided attribution does not change.
    staleTime: 5 * 60_000,
  })

export interface SubmissionChanges {
  status?: SubmissionStatus
  notes?: string | null
  assigneeId?: number | null
}
/** @param keepalive the request continues after the page is closed */
export const updateSubmission = (api: Api, id: number, body: SubmissionChanges, keepalive = false) =>
  api.patch<Submission>(`/submissions/${id}`, body, { keepalive })

/** Sets the status of any number of submissions, 100 per request. */
export async function updateSubmissions(api: Api, ids: number[], status: SubmissionStatus) {
  for (const chunk of toChunks(ids)) {
    await withoutMissing(chunk, (ids) => api.patch<SubmissionState[]>('/submissions/bulk', { ids, status }))
  }
}

/** Gives any number of submissions to a member, or to nobody. */
export async function assignSubmissions(api: Api, ids: number[], assigneeId: number | null) {
  for (const chunk of toChunks(ids)) {
    await withoutMissing(chunk, (ids) =>
      api.patch<SubmissionState[]>('/submissions/bulk', { ids, assigneeId }),
    )
  }
}

/** Deletes any number of submissions. All requests start at once, because the page may be closing. */
export const deleteSubmissions = (api: Api, ids: number[]) =>
  Promise.all(
    toChunks(ids).map((chunk) =>
      withoutMissing(chunk, (ids) =>
        api.remove<SubmissionState[]>('/submissions/bulk', {
          query: { ids: ids.join(',') },
          keepalive: true,
        }),
      ),
    ),
  )

/** Repeats an all-or-nothing request without the submissions that another person has deleted. */
async function withoutMissing(ids: number[], send: (ids: number[]) => Promise<unknown>) {
  try {
    await send(ids)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    const found = ids.filter((_, i) => !(`${i}.id` in error.errors))
    if (found.length === 0 || found.length === ids.length) throw error
    await send(found)
  }
}

export const SUBMISSION_EXPORT_FORMATS = ['xlsx', 'csv', 'json', 'ndjson'] as const
export type SubmissionExportFormat = (typeof SUBMISSION_EXPORT_FORMATS)[number]

export function exportSubmissions(
  api: Api,
  { formKey, ...filter }: InboxFilter & { formKey: string },
  format: SubmissionExportFormat,
) {
  const path = `/forms/${encodeURIComponent(formKey)}/submissions/export`
  // Excel reads CSV as UTF-8 only behind a byte order mark.
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
  const forSpreadsheets = {
    ...((format === 'csv' || format === 'xlsx') && { timezone }),
    ...(format === 'csv' && { bom: 'true' }),
  }
  return api.file(path, { ...toQueryParameters(filter), format, ...forSpreadsheets })
}

/** A value that at least one lead has, for the inbox's filter menus. */
export interface LeadValue {
  value: string
  label: string
  leads: number
}
type Grouping = 'country' | 'utmSource' | 'link'

export const leadValuesQuery = (api: Api, groupBy: Grouping) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'values', groupBy],
    async queryFn({ signal }): Promise<LeadValue[]> {
      const rows = await api.get<Record<string, string | number | null>[]>('/analytics/leads', {
        query: { groupBy, interval: 'all', limit: 100 },
        signal,
      })
      return rows.flatMap((row) => {
        const value = row[groupBy]
        if (value === null || value === undefined || value === 'Unknown' || value === '') return []
        const label = groupBy === 'link' ? `/${row.slug ?? value}` : String(value)
        return [{ value: String(value), label, leads: Number(row.leads) }]
      })
    },
    staleTime: 60_000,
  })
