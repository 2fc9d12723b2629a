// Destinations of links over the REST API: their list and their repair.

import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query'
import type { DestinationResource, RepairResource } from '../../server/features/destinations/schema.ts'
import type { Api } from './client.ts'
import { inPages, PAGE_MAX } from './pages.ts'

export type { DestinationResource, DestinationState } from '../../server/features/destinations/schema.ts'

/** The API's maximum for one call. */
const REPAIRED_AT_ONCE = 1000

/** @param state states with commas between them; '' is all */
export const destinationsQuery = (api: Api, state: string) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'destinations', state],
    ...inPages<DestinationResource>(api, '/destinations', { state, limit: PAGE_MAX }),
    placeholderData: keepPreviousData,
  })

/** @returns the ids of all links that changed */
export async function repairDestination(api: Api, from: string, to: string): Promise<number[]> {
  const ids: number[] = []
  for (let left = 1; left > 0; ) {
    const answer = await api.post<RepairResource>('/destinations/repair', { from, to })
    ids.push(...answer.ids)
    left = answer.ids.length === 0 ? 0 : answer.left
  }
  return ids
}

/** @param ids the links that a repair from `from` to `to` has changed */
export async function undoRepair(api: Api, from: string, to: string, ids: number[]): Promise<void> {
  for (let at = 0; at < ids.length; at += REPAIRED_AT_ONCE) {
    const linkIds = ids.slice(at, at + REPAIRED_AT_ONCE)
    await api.post<RepairResource>('/destinations/repair', { from: to, to: from, linkIds })
  }
}
