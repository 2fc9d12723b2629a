// Saved views of analytics over the REST API.

import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { CreateViewInput, UpdateViewInput, ViewResource } from '../../server/features/views/schema.ts'
import type { Api } from './client.ts'

/** The newest of the API's largest page. */
const PAGE_SIZE = 100

export const viewsQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'views'],
    queryFn: ({ signal }) => api.page<ViewResource>('/views', { query: { limit: PAGE_SIZE }, signal }),
  })

export const createView = (api: Api, input: CreateViewInput) => api.post<ViewResource>('/views', input)
export const updateView = (api: Api, id: number, input: UpdateViewInput) =>
  api.patch<ViewResource>(`/views/${id}`, input)
export const deleteView = (api: Api, id: number) => api.remove<ViewResource>(`/views/${id}`)

export const invalidateViews = (client: QueryClient, api: Api) =>
  client.invalidateQueries({ queryKey: viewsQuery(api).queryKey })
