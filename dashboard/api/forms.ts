// Forms over the REST API: the list, one form, its losses, and the page check.

import type { z } from '@hono/zod-openapi'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { CreateFormInput, FormResource, UpdateForm } from '../../server/features/forms/schema.ts'
import type { Api } from './client.ts'
import { inPages, readList } from './pages.ts'

/** Settings as they are sent: null is the value of a new form. */
export type FormChanges = z.input<typeof UpdateForm>

export const formsQuery = (api: Api) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'forms', 'list'],
    ...inPages<FormResource>(api, '/forms', { limit: 50 }),
  })

/** All forms, for menus. A workspace has a handful of forms. */
export const formNamesQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'forms', 'names'],
    queryFn: ({ signal }) => Array.fromAsync(readList<FormResource>(api, '/forms', { signal })),
    staleTime: 60_000,
  })

export const formQuery = (api: Api, formKey: string) =>
  queryOptions({
    queryKey: [api.workspaceId, 'forms', 'one', formKey],
    queryFn: ({ signal }) => api.get<FormResource>(`/forms/${encodeURIComponent(formKey)}`, { signal }),
  })

/** The tracking snippet: one line of HTML for the head of a page. */
export const snippetQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'workspace', 'snippet'],
    queryFn: async ({ signal }) => (await api.get<{ snippet: string }>('/workspace', { signal })).snippet,
    staleTime: Number.POSITIVE_INFINITY,
  })

export const createForm = (api: Api, input: CreateFormInput) => api.post<FormResource>('/forms', input)

export const updateForm = (api: Api, formKey: string, changes: FormChanges) =>
  api.patch<FormResource>(`/forms/${encodeURIComponent(formKey)}`, changes)

export const deleteForm = (api: Api, formKey: string) =>
  api.remove<FormResource>(`/forms/${encodeURIComponent(formKey)}`)

export interface Losses {
  start: string
  end: string
  attempts: number
  outcomes: Record<LossOutcome, number>
  fields: { field: string; attempts: number }[]
}
export type LossOutcome =
  | 'stored'
  | 'spam'
  | 'rateLimited'
  | 'origin'
  | 'tooLarge'
  | 'unreadable'
  | 'honeypot'
  | 'validation'
  | 'captcha'

const DAY_MS = 86_400_000
/** The server counts attempts by UTC day. */
const utcDay = (at: number) => new Date(at).toISOString().slice(0, 10)

export const lossesQuery = (api: Api, formKey: string, days: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'forms', 'losses', formKey, days],
    queryFn: ({ signal }) =>
      api.get<Losses>(`/forms/${encodeURIComponent(formKey)}/losses`, {
        query: { start: utcDay(Date.now() - (days - 1) * DAY_MS), end: utcDay(Date.now()) },
        signal,
      }),
    placeholderData: (before) => before,
  })

export interface Finding {
  code: string
  severity: 'error' | 'warning' | 'info'
  message: string
  fix: string
}
export interface FormCheck {
  url: string | null
  /** A form of the page posts to this form. */
  hasForm: boolean
  /** The labels of the form's fields on the page. */
  labels: Record<string, string>
  ok: boolean
  findings: Finding[]
}
export type PageSource = { url: string } | { html: string; pageUrl?: string }

export const checkForm = (api: Api, formKey: string, page: PageSource) =>
  api.post<FormCheck>(`/forms/${encodeURIComponent(formKey)}/check`, page)
