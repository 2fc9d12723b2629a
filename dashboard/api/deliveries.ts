// Deliveries over the REST API: one notification to one channel, with its attempts.

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { DeliveryDetail, DeliveryResource } from '../../server/features/notify/schema.ts'
import type { Api } from './client.ts'
import { inPages } from './pages.ts'

export type { DeliveryDetail, DeliveryResource }

export interface DeliveryFilter {
  status?: string
  channelId?: string
  formKey?: string
  submissionId?: string
}

export const deliveriesQuery = (api: Api, filter: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'deliveries', filter],
    ...inPages<DeliveryResource>(api, '/deliveries', { ...filter, limit: 50 }),
  })

/** How many have failed permanently. */
export const failedCountQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'deliveries', 'failed'],
    queryFn: async ({ signal }) =>
      (await api.page('/deliveries', { query: { status: 'failed', limit: 1 }, signal })).total,
  })

export const deliveryQuery = (api: Api, id: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'delivery', id],
    queryFn: ({ signal }) => api.get<DeliveryDetail>(`/deliveries/${id}`, { signal }),
  })

export const retryDelivery = (api: Api, id: number) => api.post<DeliveryDetail>(`/deliveries/${id}/retry`)
export const retryFailed = (api: Api, since: string, channelId?: number) =>
  api.post<{ retried: number }>('/deliveries/retry', { since, channelId })
