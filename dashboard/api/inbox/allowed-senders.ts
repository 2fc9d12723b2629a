// Senders whose submissions are never spam, over the REST API. They are of the workspace: all its forms know them.

import { queryOptions } from '@tanstack/react-query'
import type { Api } from '../client.ts'

export interface AllowedSender {
  id: number
  /** `ada@example.com`, or `*@example.com` for everybody there. */
  address: string
  createdAt: string
}

export const allowedSendersQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'allowed senders'],
    queryFn: async ({ signal }) =>
      (await api.page<AllowedSender>('/spam/allowed-senders', { query: { limit: 100 }, signal })).data,
  })

export const allowSender = (api: Api, address: string) =>
  api.post<AllowedSender>('/spam/allowed-senders', { address })
export const disallowSender = (api: Api, id: number) =>
  api.remove<AllowedSender>(`/spam/allowed-senders/${id}`)
