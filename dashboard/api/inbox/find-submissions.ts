// The search for submissions of the command palette, which is on every page: the rest of the inbox is loaded with the inbox.

import { queryOptions } from '@tanstack/react-query'
import type { Api } from '../client.ts'
import type { Submission } from '../submissions.ts'

/** The newest submissions that match the search, for the palette. */
export const findSubmissionsQuery = (api: Api, search: string, limit: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'search', search, limit],
    queryFn: async ({ signal }) =>
      (await api.page<Submission>('/submissions', { query: { search, limit }, signal })).data,
  })
