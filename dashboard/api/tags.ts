// Tags over the REST API.

import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { TagResource } from '../../server/features/links/schema.ts'
import type { Api } from './client.ts'
import { inPages, PAGE_MAX } from './pages.ts'
import { workspacesQuery } from './session.ts'

export type TagInput = Partial<Pick<TagResource, 'name' | 'color' | 'pinned'>>

/** The first 100 tags that match: enough for a menu that searches while typing. */
export const tagsQuery = (api: Api, search = '') =>
  queryOptions({
    queryKey: [api.workspaceId, 'tags', 'some', search],
    queryFn: ({ signal }) => api.page<TagResource>('/tags', { query: { search, limit: PAGE_MAX }, signal }),
    staleTime: 30_000,
  })

export const allTagsQuery = (api: Api, search = '') =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'tags', 'list', search],
    ...inPages<TagResource>(api, '/tags', { search, limit: PAGE_MAX }),
    placeholderData: (before) => before,
  })

export const createTag = (api: Api, input: TagInput) => api.post<TagResource>('/tags', input)
export const updateTag = (api: Api, id: number, input: TagInput) =>
  api.patch<TagResource>(`/tags/${id}`, input)
export const deleteTag = (api: Api, id: number) => api.remove<TagResource>(`/tags/${id}`, { keepalive: true })

/** Also invalidates links, because links contain the names and colors of their tags. */
export const invalidateTags = (client: QueryClient, api: Api) =>
  Promise.all([
    client.invalidateQueries({ queryKey: [api.workspaceId, 'tags'] }),
    client.invalidateQueries({ queryKey: [api.workspaceId, 'links'] }),
    // The list of workspaces has the pinned ones.
    client.invalidateQueries({ queryKey: workspacesQuery.queryKey }),
  ])
