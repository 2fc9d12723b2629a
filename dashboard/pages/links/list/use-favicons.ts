// Icons of the destinations in a list: one request for each page of the list. Rows do not wait for them.

import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { useApi } from '../../../shell/use-workspace.ts'

interface Icon {
  host: string
  dataUrl: string
}

const FRESH_MS = 60 * 60_000

/** The API takes names, not addresses. */
export const toHost = (url: string): string | undefined => {
  const host = URL.parse(url)?.hostname
  return host && /[a-z]/.test(host) && host.includes('.') ? host : undefined
}

const toMap = (results: UseQueryResult<Icon[]>[]): ReadonlyMap<string, string> =>
  new Map(results.flatMap(({ data }) => (data ?? []).map(({ host, dataUrl }) => [host, dataUrl] as const)))

/** By the host of the destination. */
export function useFavicons(pages: readonly { data: LinkResource[] }[]): ReadonlyMap<string, string> {
  const api = useApi()
  return useQueries({
    queries: pages
      .map(({ data }) => [...new Set(data.flatMap(({ destinationUrl }) => toHost(destinationUrl) ?? []))])
      .map((hosts) => hosts.sort().join(','))
      .filter(Boolean)
      .map((hosts) => ({
        queryKey: [api.workspaceId, 'favicons', hosts],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          api.get<Icon[]>('/links/favicons', { query: { hosts }, signal }),
        staleTime: FRESH_MS,
        placeholderData: (before: Icon[] | undefined) => before,
        retry: false,
      })),
    combine: toMap,
  })
}
