// 404s over the REST API: slugs that people asked for and that no link has.

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { MissingAnswerData, MissingSlugShape } from '../../server/features/analytics/missing/schema.ts'
import type { LinkResource } from '../../server/features/links/schema.ts'
import type { Api } from './client.ts'

export type MissingSlug = z.infer<typeof MissingSlugShape>

const ROWS_MAX = 100

/** Among the queries of links, so that a new link makes its row say that it exists now. */
export const missingQuery = (api: Api, interval: string) =>
  queryOptions({
    queryKey: [api.workspaceId, 'links', 'missing', interval],
    queryFn: async ({ signal }) => {
      const query = { interval, limit: ROWS_MAX, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone }
      return (await api.raw('/analytics/missing', { query, signal })).json() as Promise<MissingAnswerData>
    },
    placeholderData: keepPreviousData,
  })

const FOUND_MAX = 6

/** Links to choose one from; the newest without a search. */
export const foundLinksQuery = (api: Api, search: string) =>
  queryOptions({
    queryKey: [api.workspaceId, 'links', 'found', search],
    queryFn: async ({ signal }) =>
      (await api.page<LinkResource>('/links', { query: { search, limit: FOUND_MAX }, signal })).data,
    placeholderData: keepPreviousData,
  })
