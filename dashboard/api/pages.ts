// Lists that the API gives page by page, and lists that are sent in parts: the API takes at most 100 items at a time.

import type { Api, QueryParameters, ResultPage } from './client.ts'

/** The API's maximum for one page of a list and for one bulk request. */
export const PAGE_MAX = 100

/** For `infiniteQueryOptions`. */
export const inPages = <T>(api: Api, path: string, query: QueryParameters) => ({
  queryFn: ({ pageParam, signal }: { pageParam: string; signal: AbortSignal }) =>
    api.page<T>(path, { query: { ...query, cursor: pageParam }, signal }),
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }: ResultPage<T>) => nextCursor,
})

/** All items of a list. The next page is asked for when an item of it is. */
export async function* readList<T>(
  api: Api,
  path: string,
  { query, signal }: { query?: QueryParameters; signal?: AbortSignal } = {},
): AsyncGenerator<T> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: ResultPage<T> = await api.page(path, {
      query: { ...query, limit: PAGE_MAX, cursor },
      signal,
    })
    yield* page.data
    cursor = page.nextCursor
  }
}

export const toChunks = <T>(list: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / PAGE_MAX) }, (_, i) =>
    list.slice(i * PAGE_MAX, (i + 1) * PAGE_MAX),
  )
