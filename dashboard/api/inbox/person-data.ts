// All data of one person over the REST API: its export, its erasure, and the receipts of erasures.

import { infiniteQueryOptions } from '@tanstack/react-query'
import type { Api } from '../client.ts'
import { inPages } from '../pages.ts'

/** The receipt of one erasure. It has no address, so it does not reveal the person. */
export interface ErasureReceipt {
  id: number
  at: string
  submissions: number
  files: number
  deliveries: number
  replies: number
}

export const exportPerson = (api: Api, email: string) => api.file('/submissions/person', { email })

export const erasePerson = (api: Api, email: string) =>
  api.remove<{ email: string; erased: number; receipt: ErasureReceipt }>('/submissions', { query: { email } })

/** @param email only receipts of this address; '' for all */
export const erasuresQuery = (api: Api, email: string) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'erasures', email],
    ...inPages<ErasureReceipt>(api, '/submissions/erasures', { limit: 50, email }),
  })
