// Proofs of closed days over the REST API: their list, and the check of one day.

import { infiniteQueryOptions } from '@tanstack/react-query'
import type { DayProofResource, ProofCheckResource } from '../../server/features/proofs/schema.ts'
import type { Api } from './client.ts'
import { inPages } from './pages.ts'

export type { DayProofResource, ProofCheckResource }

/** Newest first. */
export const proofsQuery = (api: Api) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'proofs'],
    ...inPages<DayProofResource>(api, '/proofs', { limit: 50 }),
  })

/** Counts the day again. */
export const verifyProof = (api: Api, day: string) => api.get<ProofCheckResource>(`/proofs/${day}`)
