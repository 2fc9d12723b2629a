// Allowed senders over the REST API. Their submissions are never spam, in any form of the workspace.

import { infiniteQueryOptions } from '@tanstack/react-query'
import type { AllowedSenderResource } from '../../../server/features/forms/spam/schema.ts'
import type { Api } from '../client.ts'
import { inPages, PAGE_MAX } from '../pages.ts'

export type { AllowedSenderResource }

export const allowedSendersQuery = (api: Api) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'allowed senders'],
    ...inPages<AllowedSenderResource>(api, '/allowed-senders', { limit: PAGE_MAX }),
  })

/** @param address `ada@example.com`, or `*@example.com` for everybody there */
export const allowSender = (api: Api, address: string) =>
  api.post<AllowedSenderResource>('/allowed-senders', { address })
export const disallowSender = (api: Api, id: number) =>
  api.remove<AllowedSenderResource>(`/allowed-senders/${id}`)
