// Channels and deliveries, as the server has them.

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type {
  ChannelResource,
  ChannelType,
  CreateChannelInput,
  DeliveryDetail,
  DeliveryResource,
  NewChannelResource,
  UpdateChannelInput,
} from '../../server/features/notify/schema.ts'
import type { Api, ResultPage } from './client.ts'

export type { ChannelResource, ChannelType, DeliveryDetail, DeliveryResource, NewChannelResource }

/** One page holds them all: nobody has a hundred. */
export const channelsQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'channels'],
    queryFn: ({ signal }) => api.page<ChannelResource>('/channels', { query: { limit: 100 }, signal }),
  })

export const createChannel = (api: Api, input: CreateChannelInput) =>
  api.post<NewChannelResource>('/channels', input)
export const updateChannel = (api: Api, id: number, input: UpdateChannelInput) =>
  api.patch<ChannelResource>(`/channels/${id}`, input)
export const deleteChannel = (api: Api, id: number) =>
  api.remove<ChannelResource>(`/channels/${id}`, { keepalive: true })
export const testChannel = (api: Api, id: number) => api.post<DeliveryDetail>(`/channels/${id}/test`)
export const rotateSecret = (api: Api, id: number) =>
  api.post<NewChannelResource>(`/channels/${id}/rotate-secret`)

export interface DeliveryFilter {
  status?: string
  channelId?: string
  submissionId?: string
}

export const deliveriesQuery = (api: Api, filter: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'deliveries', filter],
    queryFn: ({ pageParam, signal }) =>
      api.page<DeliveryResource>('/deliveries', {
        query: { ...filter, limit: 50, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }: ResultPage<DeliveryResource>) => nextCursor ?? undefined,
  })

export const deliveryQuery = (api: Api, id: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'delivery', id],
    queryFn: ({ signal }) => api.get<DeliveryDetail>(`/deliveries/${id}`, { signal }),
  })

export const retryDelivery = (api: Api, id: number) => api.post<DeliveryDetail>(`/deliveries/${id}/retry`)
export const retryFailed = (api: Api, since: string, channelId?: number) =>
  api.post<{ retried: number }>('/deliveries/retry', { since, channelId })
