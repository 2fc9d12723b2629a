// Allowed senders, over the REST API: their submissions are never spam. The list holds for all forms of a workspace.

import { infiniteQueryOptions } from '@tanstack/react-query'
import type { AllowedSenderResource } from '../../../server/features/forms/spam/schema.ts'
import type { Api, ResultPage } from '../client.ts'

export type { AllowedSenderResource }

export const allowedSendersQuery = (api: Api) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'allowed senders'],
    queryFn: ({ pageParam, signal }) =>
      api.page<AllowedSenderResource>('/allowed-senders', {
        query: { limit: 100, cursor: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last: ResultPage<AllowedSenderResource>) => last.nextCursor,
  })

/** @param address `ada@example.com`, or `*@example.com` for everybody there */
export const allowSender = (api: Api, address: string) =>
  api.post<AllowedSenderResource>('/allowed-senders', { address })
export const disallowSender = (api: Api, id: number) =>
  api.remove<AllowedSenderResource>(`/allowed-senders/${id}`)
