// Domains of the workspace over the REST API. While a domain's page is open, the API checks its DNS records repeatedly.

import { type Query, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  CreateDomainInput,
  DnsRecord,
  DomainResource,
  UpdateDomainInput,
} from '../../server/features/links/domains/schema.ts'
import type { Api } from './client.ts'
import { readList } from './pages.ts'
import { isSignedOut } from './session.ts'

export type { DnsRecord, DomainResource, UpdateDomainInput }

const toListKey = (api: Api) => [api.workspaceId, 'domains', 'list'] as const

/** All of them: the menus that offer domains have no search. */
export const domainsQuery = (api: Api) =>
  queryOptions({
    queryKey: toListKey(api),
    queryFn: ({ signal }) => Array.fromAsync(readList<DomainResource>(api, '/domains', { signal })),
    staleTime: 30_000,
  })

export const domainQuery = (api: Api, id: number) =>
  queryOptions({
    queryKey: [api.workspaceId, 'domains', 'one', id],
    queryFn: ({ signal }) => api.get<DomainResource>(`/domains/${id}`, { signal }),
  })

export const createDomain = (api: Api, input: CreateDomainInput) =>
  api.post<DomainResource>('/domains', input)
export const updateDomain = (api: Api, id: number, input: UpdateDomainInput) =>
  api.patch<DomainResource>(`/domains/${id}`, input)
/** @param moveTo the id of the domain that gets the links, or `default` */
export const deleteDomain = (api: Api, id: number, moveTo?: string) =>
  api.remove<DomainResource>(`/domains/${id}`, { query: { moveTo } })

const FIRST_CHECK_MS = 3000
const LAST_CHECK_MS = 60_000
const SLOWDOWN = 1.3

/** The more checks there were, the longer the pause: DNS takes seconds at some providers, hours at others. */
export const toCheckPause = (checks: number) => Math.min(LAST_CHECK_MS, FIRST_CHECK_MS * SLOWDOWN ** checks)

/**
 * Has the server look at the domain's DNS records, and again after a pause. A hidden page does not ask.
 * @param mayChange without the right to change the domain, the last result is read in place of a new one
 */
export const domainCheckQuery = (client: QueryClient, api: Api, id: number, mayChange: boolean) =>
  queryOptions({
    queryKey: [api.workspaceId, 'domains', 'check', id],
    async queryFn({ signal }) {
      const domain = mayChange
        ? await api.post<DomainResource>(`/domains/${id}/verify`, undefined, { signal, isBackground: true })
        : await api.get<DomainResource>(`/domains/${id}`, { signal })
      storeDomain(client, api, domain)
      return domain
    },
    refetchInterval: ({ state }: Pick<Query, 'state'>) =>
      isSignedOut(state.error) ? false : toCheckPause(state.dataUpdateCount + state.errorUpdateCount),
    retry: false,
    // The pauses are short again when the page is opened again.
    gcTime: 0,
  })

/** Shows a domain as the server has answered it, everywhere. */
export function storeDomain(client: QueryClient, api: Api, domain: DomainResource) {
  client.setQueryData(domainQuery(api, domain.id).queryKey, domain)
  client.setQueryData(domainsQuery(api).queryKey, (loaded) =>
    loaded?.map((each) => (each.id === domain.id ? domain : each)),
  )
}

/** Another domain may be the primary one now, or have other links. */
export const invalidateDomains = (client: QueryClient, api: Api) =>
  client.invalidateQueries({ queryKey: toListKey(api) })
