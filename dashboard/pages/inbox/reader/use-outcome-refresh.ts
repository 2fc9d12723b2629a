// Loads what depends on the outcomes of a lead again, after one has changed.

import { useQueryClient } from '@tanstack/react-query'
import { outcomesQuery } from '../../../api/inbox/outcomes.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { updateLoadedSubmissions } from '../state/use-submission-changes.ts'

export function useOutcomeRefresh(submissionId: number) {
  const api = useApi()
  const client = useQueryClient()
  return async () => {
    // The key of the analytics, whose code is not part of this page.
    void client.invalidateQueries({ queryKey: [api.workspaceId, 'analytics'] })
    const outcomes = (await client.fetchQuery({ ...outcomesQuery(api, submissionId), staleTime: 0 }))
      .map(({ stage, value, currency, at }) => ({ stage, value, currency, at }))
      .toReversed()
    updateLoadedSubmissions(client, api, new Map([[submissionId, { outcomes }]]))
  }
}
