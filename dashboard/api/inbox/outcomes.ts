// Outcomes of a lead over the REST API.

import { queryOptions } from '@tanstack/react-query'
import type { OutcomeResource } from '../../../server/features/outcomes/schema.ts'
import type { Api } from '../client.ts'

export type { OutcomeResource }
export type OutcomeStage = OutcomeResource['stage']

const outcomesKey = (api: Api) => [api.workspaceId, 'outcomes']

export const outcomesQuery = (api: Api, submissionId: number) =>
  queryOptions({
    queryKey: [...outcomesKey(api), submissionId],
    queryFn: async ({ signal }) =>
      (await api.page<OutcomeResource>('/outcomes', { query: { submissionId, limit: 100 }, signal })).data,
  })

export interface OutcomeInput {
  submissionId: number
  stage: OutcomeStage
  value: string | null
  currency: string | null
}

/** A lead has one outcome here: “won” after “lost” changes it. The stages before stay beside it. */
const toExternalId = ({ submissionId, stage }: OutcomeInput) =>
  `inbox:${submissionId}:${stage === 'won' || stage === 'lost' ? 'decided' : stage}`

export const setOutcome = (api: Api, input: OutcomeInput) =>
  api.post<OutcomeResource>('/outcomes', { ...input, externalId: toExternalId(input) })

export const deleteOutcome = (api: Api, id: number) => api.remove<OutcomeResource>(`/outcomes/${id}`)
