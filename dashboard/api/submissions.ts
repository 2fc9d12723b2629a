// Submissions over the REST API: the inbox with its filters, one of them, what brought it, and files of them.

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type {
  ErasureResource,
  SubmissionResource,
  SubmissionStatus,
  TouchResource,
} from '../../server/features/forms/schema.ts'
import type { Api, QueryParameters, ResultPage } from './client.ts'

/** In the browser the fields are an object, in the sender's order but for names that are whole numbers. */
export type Submission = Omit<SubmissionResource, 'fields'> & { fields: Record<string, string> }
export type { SubmissionStatus, TouchResource }

/** As the address of the inbox has it. No status is what wants to be looked at: new and read. */
export interface InboxFilter {
  formKey?: string
  status?: string
  search?: string
  linkId?: string
  country?: string
  utmSource?: string
  /** Days of the viewer's calendar. */
  start?: string
  end?: string
}

const PAGE_SIZE = 50
const NEWEST_COUNT = 25
/** With the way there and back it is under two seconds. */
const POLL_MS = 1500

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text)

/** The first moment of a day where the viewer is, some days later. */
function toInstant(day: string, later = 0): string {
  const at = new Date(`${day}T00:00:00`)
  if (!isDay(day) || Number.isNaN(at.getTime())) return day
  at.setDate(at.getDate() + later)
  return at.toISOString()
}

/** The statuses that a filter shows; undefined is every one. */
export const toStatuses = ({ status = 'new,read' }: InboxFilter) =>
  status === 'all' ? undefined : status.split(',')

export const includesStatus = (filter: InboxFilter, status: SubmissionStatus) =>
  toStatuses(filter)?.includes(status) ?? true

const toQueryParameters = ({ start, end, ...filter }: InboxFilter): QueryParameters => ({
  ...filter,
  status: toStatuses(filter)?.join(','),
  start: start && toInstant(start),
  end: end && toInstant(end, 1),
})

export const inboxQuery = (api: Api, filter: InboxFilter) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'submissions', 'list', filter],
    queryFn: ({ pageParam, signal }) =>
      api.page<Submission>('/submissions', {
        query: { ...toQueryParameters(filter), limit: PAGE_SIZE, cursor: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor,
    // What comes in meanwhile is told by the query below.
    staleTime: 30_000,
  })

const POLL_SIZE = 10

/**
 * Says that something came in or changed, again and again while the page is looked at. Without filters, since those
 * and their count cost the server ten times as much.
 */
export const inboxPollQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'pulse'],
    queryFn: ({ signal }) => api.page<Submission>('/submissions', { query: { limit: POLL_SIZE }, signal }),
    select: ({ data, total }) =>
      [
        total,
        ...data.map(({ id, status, attribution, notes }) => `${id} ${status} ${attribution} ${notes ?? ''}`),
      ].join('\n'),
    refetchInterval: POLL_MS,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })

/** The newest ones that pass the filter, asked for at each new pulse. */
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

/** @returns how many pass the filter */
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

export const submissionQuery = (api: Api, id: string) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'one', id],
    queryFn: ({ signal }) => api.get<Submission>(`/submissions/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.attribution === 'pending' ? POLL_MS : false),
  })

export const attributionQuery = (api: Api, { id, attribution }: Submission) =>
  queryOptions({
    // A decision changes the touches.
    queryKey: [api.workspaceId, 'submissions', 'attribution', id, attribution],
    queryFn: ({ signal }) => api.get<TouchResource[]>(`/submissions/${id}/attribution`, { signal }),
    // What is decided stays as it is.
    staleTime: 5 * 60_000,
  })

/** The newest of one form. */
export const listNewestSubmissions = async (api: Api, formKey: string) =>
  (await api.page<Submission>('/submissions', { query: { formKey, limit: 5 } })).data

export interface SubmissionChanges {
  status?: SubmissionStatus
  notes?: string | null
}
/** @param keepalive goes on when the page is left */
export async function updateSubmission(api: Api, id: number, body: SubmissionChanges, keepalive = false) {
  const answer = await api.raw(`/submissions/${id}`, { method: 'PATCH', body, keepalive })
  return ((await answer.json()) as { data: Submission }).data
}

export const deleteSubmission = (api: Api, id: number) =>
  api.remove<Submission>(`/submissions/${id}`, { keepalive: true })

export const eraseSubmissions = (api: Api, email: string) =>
  api.remove<ErasureResource>('/submissions', { query: { email } })

export const SUBMISSION_EXPORT_FORMATS = ['csv', 'json', 'ndjson'] as const
export type SubmissionExportFormat = (typeof SUBMISSION_EXPORT_FORMATS)[number]

export async function exportSubmissions(
  api: Api,
  { formKey, ...filter }: InboxFilter & { formKey: string },
  format: SubmissionExportFormat,
): Promise<Blob> {
  const path = `/forms/${encodeURIComponent(formKey)}/submissions/export`
  return (await api.raw(path, { query: { ...toQueryParameters(filter), format } })).blob()
}

/** A value that some leads have, for lists to choose from. */
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
