// Tags over the REST API.

import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { TagResource } from '../../server/features/links/schema.ts'
import type { Api } from './client.ts'

/** The API's maximum for one page. */
const PAGE_SIZE = 100

export type TagInput = Partial<Pick<TagResource, 'name' | 'color' | 'pinned'>>

/** The first 100 tags that match: enough for a menu that searches while typing. */
export const tagsQuery = (api: Api, search = '') =>
  queryOptions({
    queryKey: [api.workspaceId, 'tags', 'some', search],
    queryFn: ({ signal }) => api.page<TagResource>('/tags', { query: { search, limit: PAGE_SIZE }, signal }),
    staleTime: 30_000,
  })

export const allTagsQuery = (api: Api, search = '') =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'tags', 'list', search],
    queryFn: ({ pageParam, signal }) =>
      api.page<TagResource>('/tags', { query: { search, limit: PAGE_SIZE, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    placeholderData: (before) => before,
  })

const REFRESH_MS = 60_000

/** The tags that stand in the sidebar: at most 30. */
export const pinnedTagsQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'tags', 'pinned'],
    queryFn: ({ signal }) =>
      api.page<TagResource>('/tags', { query: { pinned: 'true', limit: PAGE_SIZE }, signal }),
    select: ({ data }) => data.toSorted((a, b) => a.name.localeCompare(b.name)),
    staleTime: REFRESH_MS,
    refetchInterval: REFRESH_MS,
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
  ])
