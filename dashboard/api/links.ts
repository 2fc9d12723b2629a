// Links: lists that go on while one scrolls, one link, and what can be done to them. After a change the lists that are
// already loaded are corrected in place: asking again for all pages of a long one would take as many requests.

import {
  type InfiniteData,
  infiniteQueryOptions,
  type Query,
  type QueryClient,
  queryOptions,
} from '@tanstack/react-query'
import type { CreateLinkInput, LinkResource, UpdateLinkInput } from '../../server/features/links/schema.ts'
import type { Api, ResultPage } from './client.ts'

export interface LinkFilters {
  search?: string
  tagId?: string
  domain?: string
  archived?: string
  sort?: string
  order?: string
}

type LinkPages = InfiniteData<ResultPage<LinkResource>, string>

/** As many as one request may change, and as one page of a list has. */
const PAGE_SIZE = 100
/** Lists of so many pages are asked for again when something may have changed. */
const SHORT_LIST_PAGES = 2
const COUNTING_MS = 5000

// Any of the queries below, as the query client hands them to its options.
const isShort = (query: Pick<Query, 'state'>) =>
  ((query.state.data as LinkPages | undefined)?.pages.length ?? 0) <= SHORT_LIST_PAGES

export const linksQuery = (api: Api, filters: LinkFilters) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'links', 'list', filters] as const,
    queryFn: ({ pageParam, signal }) =>
      api.page<LinkResource>('/links', {
        query: { ...filters, limit: PAGE_SIZE, cursor: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    placeholderData: (before) => before,
    refetchOnWindowFocus: (query) => isShort(query as unknown as Query),
    refetchOnMount: (query) => isShort(query as unknown as Query),
    refetchOnReconnect: (query) => isShort(query as unknown as Query),
    // Clicks arrive while one looks; only of the first page, and the browser stops it where nobody does.
    refetchInterval: (query) => (query.state.data?.pages.length === 1 ? COUNTING_MS : false),
  })

export const linkQuery = (api: Api, id: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'links', 'one', id],
    queryFn: ({ signal }) => api.get<LinkResource>(`/links/${id}`, { signal }),
  })

/** The links whose slug is that one, in this workspace: what is known before the server is asked to store it. */
export const slugQuery = (api: Api, slug: string) =>
  queryOptions({
    queryKey: [api.workspaceId, 'links', 'slug', slug],
    queryFn: async ({ signal }) => {
      const query = { search: slug, archived: 'all', limit: PAGE_SIZE, sort: 'slug', order: 'asc' }
      const { data } = await api.page<LinkResource>('/links', { query, signal })
      return data.find((link) => link.slug.toLowerCase() === slug.toLowerCase()) ?? null
    },
    staleTime: 10_000,
  })

export interface Resolution {
  rule: string
  status: number
  destinationUrl: string | null
}

export const resolutionQuery = (
  api: Api,
  link: LinkResource,
  visit: { country?: string; device?: string; at?: string },
) =>
  queryOptions({
    // A changed link answers otherwise.
    queryKey: [api.workspaceId, 'links', 'resolution', link.id, link.updatedAt, visit],
    queryFn: ({ signal }) => api.get<Resolution>(`/links/${link.id}/resolve`, { query: visit, signal }),
    placeholderData: (before) => before,
  })

export interface QrOptions {
  size?: number
  margin?: number
  color?: string
  background?: string
}

export const fetchQrCode = async (api: Api, id: number, format: 'svg' | 'png', look: QrOptions = {}) =>
  (await api.raw(`/links/${id}/qr`, { query: { format, ...look } })).blob()

export const createLink = (api: Api, input: CreateLinkInput) => api.post<LinkResource>('/links', input)
export const updateLink = (api: Api, id: number, input: UpdateLinkInput) =>
  api.patch<LinkResource>(`/links/${id}`, input)

/** Any number, a hundred at a time. */
export async function updateLinks(api: Api, changes: (UpdateLinkInput & { id: number })[]) {
  const changed: LinkResource[] = []
  for (const links of toChunks(changes)) {
    changed.push(...(await api.patch<LinkResource[]>('/links/bulk', { links })))
  }
  return changed
}

/** All at once, because the page may be about to close. */
export const deleteLinks = (api: Api, ids: number[]) =>
  Promise.all(
    toChunks(ids).map((some) =>
      api.remove<LinkResource[]>('/links/bulk', { query: { ids: some.join(',') }, keepalive: true }),
    ),
  )

const toChunks = <T>(list: T[]) =>
  Array.from({ length: Math.ceil(list.length / PAGE_SIZE) }, (_, i) =>
    list.slice(i * PAGE_SIZE, (i + 1) * PAGE_SIZE),
  )

const linkListFilter = (api: Api) => ({ queryKey: [api.workspaceId, 'links', 'list'] })

/** What is loaded, without asking: a link that was just seen in a list opens at once. */
export function findLoadedLink(client: QueryClient, api: Api, id: number): LinkResource | undefined {
  for (const [, loaded] of client.getQueriesData<LinkPages>(linkListFilter(api))) {
    for (const page of loaded?.pages ?? []) {
      const found = page.data.find((link) => link.id === id)
      if (found) return found
    }
  }
  return undefined
}

/** Puts the new state of links where they are shown; null takes them out. */
export function updateLoadedLinks(
  client: QueryClient,
  api: Api,
  changed: ReadonlyMap<number, LinkResource | null>,
) {
  client.setQueriesData<LinkPages>(linkListFilter(api), (loaded) => {
    if (!loaded) return loaded
    let removed = 0
    const pages = loaded.pages.map((page) => ({
      ...page,
      data: page.data.flatMap((link) => {
        const now = changed.get(link.id)
        if (now === null) removed++
        return now === undefined ? [link] : now === null ? [] : [now]
      }),
    }))
    return { ...loaded, pages: pages.map((page) => ({ ...page, total: page.total - removed })) }
  })
  for (const [id, link] of changed) {
    const { queryKey } = linkQuery(api, id)
    if (link) client.setQueryData(queryKey, link)
    else client.removeQueries({ queryKey })
  }
}

/** Asks again for what is short enough; `fromStart` lets go of the pages after the first, for what stands on top now. */
export async function invalidateLinks(client: QueryClient, api: Api, { fromStart = false } = {}) {
  if (fromStart) {
    client.setQueriesData<LinkPages>(
      linkListFilter(api),
      (loaded) => loaded && { pages: loaded.pages.slice(0, 1), pageParams: loaded.pageParams.slice(0, 1) },
    )
  }
  await Promise.all([
    client.invalidateQueries({ queryKey: [api.workspaceId, 'links'], predicate: isShortOrOther }),
    client.invalidateQueries({ queryKey: [api.workspaceId, 'tags'] }),
    client.invalidateQueries({ queryKey: [api.workspaceId, 'workspace'] }),
  ])
}

const isShortOrOther = (query: Query) => query.queryKey[2] !== 'list' || isShort(query)
