// Notification channels over the REST API.

import { queryOptions } from '@tanstack/react-query'
import type {
  ChannelResource,
  ChannelType,
  CreateChannelInput,
  DeliveryDetail,
  NewChannelResource,
  PreviewResource,
  UpdateChannelInput,
} from '../../server/features/notify/schema.ts'
import type { Api } from './client.ts'

export type { ChannelResource, ChannelType, NewChannelResource, PreviewResource }

/** One page holds every channel: no workspace is expected to have more than 100. */
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
export const askRecipients = (api: Api, id: number) =>
  api.post<{ mailed: number }>(`/channels/${id}/ask-recipients`)
export const rotateSecret = (api: Api, id: number) =>
  api.post<NewChannelResource>(`/channels/${id}/rotate-secret`)
