// Changes of notification channels over the REST API, and previews of messages. Every page has the list of channels;
// this file is loaded with the Channels page.

import type {
  ChannelResource,
  CreateChannelInput,
  DeliveryDetail,
  NewChannelResource,
  PreviewResource,
  UpdateChannelInput,
} from '../../../server/features/notify/schema.ts'
import type { Api } from '../client.ts'

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
/** @param template as it would be saved */
export const previewChannel = (api: Api, id: number, template: ChannelResource['template']) =>
  api.post<PreviewResource>(`/channels/${id}/preview`, { template })
