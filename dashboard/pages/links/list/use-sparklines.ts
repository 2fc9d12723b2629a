// Clicks by day of the links in a list: one request for each page of the list.

import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { useApi } from '../../../shell/use-workspace.ts'

interface LinkClicks {
  linkId: number
  clicks: number[]
}

/** Only today's number changes. */
const FRESH_MS = 5 * 60_000

/** The server leaves out links without clicks. */
const NO_CLICKS = new Array<number>(30).fill(0)

const addMissing = (lines: LinkClicks[], linkIds: string): LinkClicks[] => {
  const clicks = new Map(lines.map((line) => [line.linkId, line.clicks]))
  return linkIds
    .split(',')
    .map(Number)
    .map((linkId) => ({ linkId, clicks: clicks.get(linkId) ?? NO_CLICKS }))
}

const toMap = (results: UseQueryResult<LinkClicks[]>[]): ReadonlyMap<number, number[]> =>
  new Map(results.flatMap(({ data }) => (data ?? []).map(({ linkId, clicks }) => [linkId, clicks] as const)))

/** By the id of the link. */
export function useSparklines(pages: readonly { data: LinkResource[] }[]): ReadonlyMap<number, number[]> {
  const api = useApi()
  return useQueries({
    queries: pages
      .map(({ data }) => data.map(({ id }) => id).join(','))
      .filter(Boolean)
      .map((linkIds) => ({
        queryKey: [api.workspaceId, 'sparklines', linkIds],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          api.get<LinkClicks[]>('/analytics/sparklines', { query: { linkIds }, signal }),
        staleTime: FRESH_MS,
        placeholderData: (before: LinkClicks[] | undefined) => before,
        retry: false,
        select: (lines: LinkClicks[]) => addMissing(lines, linkIds),
      })),
    combine: toMap,
  })
}
