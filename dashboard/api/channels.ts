// Notification channels over the REST API.

import { queryOptions } from '@tanstack/react-query'
import type {
  ChannelResource,
  ChannelType,
  NewChannelResource,
  PreviewResource,
} from '../../server/features/notify/schema.ts'
import type { Api } from './client.ts'

export type { ChannelResource, ChannelType, NewChannelResource, PreviewResource }

/** One page holds every channel: no workspace is expected to have more than 100. */
export const channelsQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'channels'],
    queryFn: ({ signal }) => api.page<ChannelResource>('/channels', { query: { limit: 100 }, signal }),
  })
