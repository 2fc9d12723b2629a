// The split test of a link over the REST API.

import { queryOptions } from '@tanstack/react-query'
import type { LinkResource } from '../../server/features/links/schema.ts'
import type { SplitResource } from '../../server/features/splits/schema.ts'
import type { Api } from './client.ts'

export type { SplitResource }

export const splitQuery = (api: Api, { id, split }: LinkResource) =>
  queryOptions({
    // Other variants are another test.
    queryKey: [api.workspaceId, 'split', id, JSON.stringify(split)],
    queryFn: ({ signal }) => api.get<SplitResource>(`/links/${id}/split`, { signal }),
    enabled: split !== null,
  })

export const endSplitTest = (api: Api, id: number) => api.post<LinkResource>(`/links/${id}/split/end`, {})
