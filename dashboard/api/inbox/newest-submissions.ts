// The newest submissions of a form, for its settings and its preview.

import { queryOptions } from '@tanstack/react-query'
import type { Api } from '../client.ts'
import type { Submission } from '../submissions.ts'

/** The five newest submissions. */
export const listNewestSubmissions = async (api: Api, formKey: string) =>
  (await api.page<Submission>('/submissions', { query: { formKey, limit: 5 } })).data

export const formSubmissionsQuery = (api: Api, formKey: string) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'of form', formKey],
    queryFn: () => listNewestSubmissions(api, formKey),
    staleTime: 60_000,
  })
