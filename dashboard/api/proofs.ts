// Proofs of closed days over the REST API: their list, and the check of one day.

import { infiniteQueryOptions } from '@tanstack/react-query'
import type { DayProofResource, ProofCheckResource } from '../../server/features/proofs/schema.ts'
import type { Api } from './client.ts'

export type { DayProofResource, ProofCheckResource }

const PAGE_SIZE = 50

/** Newest first. */
export const proofsQuery = (api: Api) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'proofs'],
    queryFn: ({ pageParam, signal }) =>
      api.page<DayProofResource>('/proofs', { query: { limit: PAGE_SIZE, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor ?? undefined,
  })

/** Counts the day again. */
export const verifyProof = (api: Api, day: string) => api.get<ProofCheckResource>(`/proofs/${day}`)
