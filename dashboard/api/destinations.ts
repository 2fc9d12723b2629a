// Destinations of links over the REST API: their list, their repair, and the setting that watches them.

import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query'
import type { WorkspaceResource } from '../../server/features/accounts/schema.ts'
import type { DestinationResource, RepairResource } from '../../server/features/destinations/schema.ts'
import type { Api } from './client.ts'

export type { DestinationResource, DestinationState } from '../../server/features/destinations/schema.ts'

const PAGE_SIZE = 100
/** The API's maximum for one call. */
const REPAIRED_AT_ONCE = 1000

/** @param state states with commas between them; '' is all */
export const destinationsQuery = (api: Api, state: string) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'destinations', state],
    queryFn: ({ pageParam, signal }) =>
      api.page<DestinationResource>('/destinations', {
        query: { state: state === '' ? undefined : state, limit: PAGE_SIZE, cursor: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor ?? undefined,
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

export const setDestinationWatch = (api: Api, watchDestinations: boolean) =>
  api.patch<WorkspaceResource>('/workspace', { watchDestinations })
