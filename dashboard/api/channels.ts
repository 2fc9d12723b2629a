// Notification channels over the REST API.

import { queryOptions } from '@tanstack/react-query'
import type {
  ChannelType,
  CreateChannelInput,
  DeliveryDetail,
  NewChannelResource,
  ChannelResource as ServerChannel,
  UpdateChannelInput,
} from '../../server/features/notify/schema.ts'
import type { Api } from './client.ts'

export type { ChannelType, NewChannelResource }
export type ChannelResource = ServerChannel & Partial<MessageSettings>

interface MessageSettings {
  template: ChannelTemplate | null
  digest: Digest | null
  quietHours: QuietHours | null
}

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

/** The settings of a channel's messages. */
export interface ChannelTemplate {
  subject: string | null
  text: string
}
export type Digest = 'hour' | 'day'
export interface QuietHours {
  /** Times such as `22:00`. An end before the start is on the next day. */
  start: string
  end: string
  timezone: string
}

export interface ChannelPreview {
  /** null where the values are made up. */
  submissionId: number | null
  subject: string
  text: string
}
/** @param template as it would be saved */
export const previewChannel = (api: Api, id: number, template: ChannelTemplate | null) =>
  api.post<ChannelPreview>(`/channels/${id}/preview`, { template })

export const testChannel = (api: Api, id: number) => api.post<DeliveryDetail>(`/channels/${id}/test`)
export const askRecipients = (api: Api, id: number) =>
  api.post<{ mailed: number }>(`/channels/${id}/ask-recipients`)
export const rotateSecret = (api: Api, id: number) =>
  api.post<NewChannelResource>(`/channels/${id}/rotate-secret`)
