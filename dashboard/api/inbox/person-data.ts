// All data of one person over the REST API: its export, its erasure, and the receipts of erasures.

import { infiniteQueryOptions } from '@tanstack/react-query'
import type { Api, ResultPage } from '../client.ts'
import { readFileName } from '../transfer/exports.ts'

/** The receipt of one erasure. It has no address, so it does not reveal the person. */
export interface ErasureReceipt {
  id: number
  at: string
  submissions: number
  files: number
  deliveries: number
  replies: number
}

export async function exportPerson(api: Api, email: string) {
  const response = await api.raw('/submissions/person', { query: { email }, isBackground: false })
  return { file: await response.blob(), name: readFileName(response, 'person.zip') }
}

export const erasePerson = (api: Api, email: string) =>
  api.remove<{ email: string; erased: number; receipt: ErasureReceipt }>('/submissions', { query: { email } })

/** @param email only receipts of this address; '' for all */
export const erasuresQuery = (api: Api, email: string) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'erasures', email],
    queryFn: ({ pageParam, signal }) =>
      api.page<ErasureReceipt>('/submissions/erasures', {
        query: { limit: 50, cursor: pageParam, email },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last: ResultPage<ErasureReceipt>) => last.nextCursor,
  })
