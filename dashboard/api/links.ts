// Links over the REST API: endless lists, one link, and changes. After a change, loaded lists are corrected in place:
// loading a long list again would take one request per page.

import {
  type InfiniteData,
  infiniteQueryOptions,
  type Query,
  type QueryClient,
  queryOptions,
} from '@tanstack/react-query'
import type {
  EditedLinksResource,
  LinkChangesInput,
  LinkUndoResource,
} from '../../server/features/links/bulk-edit/schema.ts'
import type {
  CreateLinkInput,
  LinkResource,
  SlugAvailability,
  TrashedLinkResource,
  UpdateLinkInput,
} from '../../server/features/links/schema.ts'

export type { EditedLinksResource, LinkChangesInput }

import type { Api, ResultPage } from './client.ts'
import { inPages, PAGE_MAX, toChunks } from './pages.ts'

export interface LinkFilters {
  search?: string
  tagId?: string
  domain?: string
  archived?: string
  sort?: string
  order?: string
}

type LinkPages = InfiniteData<ResultPage<LinkResource>, string>

/** Lists of at most this many pages are loaded again when links may have changed. */
const SHORT_LIST_PAGES = 2
const COUNTING_MS = 5000

const isShort = (query: Pick<Query, 'state'>) =>
  ((query.state.data as LinkPages | undefined)?.pages.length ?? 0) <= SHORT_LIST_PAGES

export const linksQuery = (api: Api, filters: LinkFilters) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'links', 'list', filters] as const,
    ...inPages<LinkResource>(api, '/links', { ...filters, limit: PAGE_MAX }),
    placeholderData: (before) => before,
    refetchOnWindowFocus: (query) => isShort(query as unknown as Query),
    refetchOnMount: (query) => isShort(query as unknown as Query),
    refetchOnReconnect: (query) => isShort(query as unknown as Query),
    // Click counts change while the page is open. Only the first page is polled, and only while the tab is visible.
    refetchInterval: (query) => (query.state.data?.pages.length === 1 ? COUNTING_MS : false),
  })

export const linkQuery = (api: Api, id: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'links', 'one', id],
    queryFn: ({ signal }) => api.get<LinkResource>(`/links/${id}`, { signal }),
  })

/**
 * Whether a new link could have the slug now. The key names slug and domain, so an answer never belongs to another one.
 * @param domain undefined: where new links are made
 */
export const slugQuery = (api: Api, slug: string, domain: string | undefined) =>
  queryOptions({
    queryKey: [api.workspaceId, 'links', 'slug', slug, domain],
    queryFn: ({ signal }) =>
      api.get<SlugAvailability>('/links/slug-availability', { query: { slug, domain }, signal }),
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
  visit: {
    country?: string
    device?: string
    os?: string
    language?: string
    query?: string
    at?: string
  },
) =>
  queryOptions({
    // `updatedAt`: a changed link may redirect elsewhere.
    queryKey: [api.workspaceId, 'links', 'resolution', link.id, link.updatedAt, visit],
    queryFn: ({ signal }) => api.get<Resolution>(`/links/${link.id}/resolve`, { query: visit, signal }),
    placeholderData: (before) => before,
  })

export const createLink = (api: Api, input: CreateLinkInput) => api.post<LinkResource>('/links', input)

/** @param updatedAt of the link that the person has seen: the server refuses the change (412) of an older one */
export const updateLink = (api: Api, { id, updatedAt }: LinkResource, input: UpdateLinkInput) =>
  api.patch<LinkResource>(`/links/${id}`, input, { headers: { 'If-Match': `"${updatedAt}"` } })

type Edit = { ids: number[]; changes: LinkChangesInput } | { undo: LinkUndoResource[] }

async function postEdits(api: Api, edits: Edit[]): Promise<EditedLinksResource> {
  const all: EditedLinksResource = { changed: [], unchanged: [], failed: [], undo: [] }
  for (const edit of edits) {
    const part = await api.post<EditedLinksResource>('/links/bulk-edit', edit)
    all.changed.push(...part.changed)
    all.unchanged.push(...part.unchanged)
    all.failed.push(...part.failed)
    all.undo.push(...part.undo)
  }
  return all
}

/** Changes any number of links, 100 per request. `failed` has the links that could not change. */
export const editLinks = (api: Api, ids: number[], changes: LinkChangesInput) =>
  postEdits(
    api,
    toChunks(ids).map((chunk) => ({ ids: chunk, changes })),
  )

/** Takes it back where nobody has changed the link since. */
export const undoEdit = (api: Api, undo: LinkUndoResource[]) =>
  postEdits(
    api,
    toChunks(undo).map((chunk) => ({ undo: chunk })),
  )

/** Moves any number of links to the trash. All requests start at once, because the page may be closing. */
export const deleteLinks = (api: Api, ids: number[]) =>
  Promise.all(
    toChunks(ids).map((chunk) =>
      api.remove<LinkResource[]>('/links/bulk', { query: { ids: chunk.join(',') }, keepalive: true }),
    ),
  )

export const trashQuery = (api: Api) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'links', 'trash'] as const,
    ...inPages<TrashedLinkResource>(api, '/links/trash', { limit: PAGE_MAX }),
  })

/** Returns any number of links from the trash. */
export const restoreLinks = (api: Api, ids: number[]) =>
  Promise.all(toChunks(ids).map((chunk) => api.post<LinkResource[]>('/links/restore', { ids: chunk })))

/** Permanently deletes a link in the trash. */
export const purgeLink = (api: Api, id: number) =>
  api.remove<LinkResource>(`/links/${id}`, { query: { permanent: true } })
export const emptyTrash = (api: Api) => api.remove<{ purged: number }>('/links/trash')

const linkListFilter = (api: Api) => ({ queryKey: [api.workspaceId, 'links', 'list'] })

/** Finds a link in the loaded lists, so that its page opens without waiting for the server. */
export function findLoadedLink(client: QueryClient, api: Api, id: number): LinkResource | undefined {
  for (const [, loaded] of client.getQueriesData<LinkPages>(linkListFilter(api))) {
    for (const page of loaded?.pages ?? []) {
      const link = page.data.find((each) => each.id === id)
      if (link) return link
    }
  }
  return undefined
}

/** Updates links in all loaded queries. A null value removes the link. */
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
        const updated = changed.get(link.id)
        if (updated === null) removed++
        return updated === undefined ? [link] : updated === null ? [] : [updated]
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

/** Takes links out of all loaded lists. @returns puts them back in their places */
export function removeLoadedLinks(client: QueryClient, api: Api, ids: readonly number[]): () => void {
  const before = client.getQueriesData<LinkPages>(linkListFilter(api))
  updateLoadedLinks(client, api, new Map(ids.map((id) => [id, null])))
  return () => {
    for (const [key, old] of before)
      client.setQueryData<LinkPages>(key, (now) => (now && old ? putBack(now, old, new Set(ids)) : now))
  }
}

function putBack(now: LinkPages, old: LinkPages, ids: ReadonlySet<number>): LinkPages {
  const present = new Set(now.pages.flatMap(({ data }) => data.map(({ id }) => id)))
  let added = 0
  const pages = now.pages.map((page, p) => {
    const data = [...page.data]
    for (const [i, link] of (old.pages[p]?.data ?? []).entries()) {
      if (!ids.has(link.id) || present.has(link.id)) continue
      data.splice(i, 0, link)
      added++
    }
    return { ...page, data }
  })
  return { ...now, pages: pages.map((page) => ({ ...page, total: page.total + added })) }
}

/** Loads short lists again. `fromStart` drops all pages but the first, so that a new link appears at the top. */
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
