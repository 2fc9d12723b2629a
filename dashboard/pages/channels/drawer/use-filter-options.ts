// The values that a filter of a channel can have, and their names: from the API, or from closed lists.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { valueNamesQuery } from '../../../api/analytics.ts'
import type { Api } from '../../../api/client.ts'
import { domainsQuery } from '../../../api/domains.ts'
import { formNamesQuery } from '../../../api/forms.ts'
import { linksQuery } from '../../../api/links.ts'
import { tagsQuery } from '../../../api/tags.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { COUNTRIES } from '../../../ui/countries.ts'
import {
  formatDimensionValue,
  TRAFFIC_CHANNEL_LABELS,
  TRIGGER_LABELS,
} from '../../analytics/view/dimensions.ts'
import { toLinkName } from '../../links/link/link-name.ts'

/** Filters with values that people choose by name. Other values are typed. */
const CHOSEN_FILTERS = ['tagId', 'linkId', 'form', 'country', 'domain', 'channel', 'trigger'] as const
export type ChosenFilter = (typeof CHOSEN_FILTERS)[number]

export const isChosenFilter = (name: string): name is ChosenFilter =>
  (CHOSEN_FILTERS as readonly string[]).includes(name)

export interface FilterOption {
  value: string
  label: string
}

/** The options whose names match the search. The API searches tags and links, of which there may be many. */
export function useFilterOptions(
  name: ChosenFilter,
  search: string,
): { options: FilterOption[]; isPending: boolean } {
  const api = useApi()
  const tags = useQuery({
    ...tagsQuery(api, search),
    enabled: name === 'tagId',
    placeholderData: (before) => before,
  })
  const links = useInfiniteQuery({
    ...linksQuery(api, { search: search || undefined }),
    enabled: name === 'linkId',
    refetchInterval: false,
  })
  const forms = useQuery({ ...formNamesQuery(api), enabled: name === 'form' })
  const domains = useQuery({ ...domainsQuery(api), enabled: name === 'domain' })
  const match = (options: FilterOption[]) =>
    options.filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()))
  switch (name) {
    case 'tagId': {
      const options = tags.data?.data.map(({ id, name: label }) => ({ value: String(id), label }))
      return { options: options ?? [], isPending: tags.isPending }
    }
    case 'linkId': {
      const options = links.data?.pages[0]?.data.map((link) => ({
        value: String(link.id),
        label: toLinkName(link),
      }))
      return { options: options ?? [], isPending: links.isPending }
    }
    case 'form': {
      const options = forms.data?.map(({ formKey, name: label }) => ({ value: formKey, label }))
      return { options: match(options ?? []), isPending: forms.isPending }
    }
    case 'domain': {
      const names = [location.host, ...(domains.data ?? []).map(({ domain }) => domain)]
      return {
        options: names.map((domain) => ({ value: domain, label: domain })),
        isPending: domains.isPending,
      }
    }
    case 'country':
      return { options: match(toOptions(name, COUNTRIES)), isPending: false }
    case 'channel':
      return { options: toOptions(name, Object.keys(TRAFFIC_CHANNEL_LABELS)), isPending: false }
    case 'trigger':
      return { options: toOptions(name, Object.keys(TRIGGER_LABELS)), isPending: false }
  }
}

const toOptions = (name: ChosenFilter, values: readonly string[]): FilterOption[] =>
  values.map((value) => ({ value, label: formatDimensionValue(name, value) }))

/** The name of a chosen value that the list of options does not show. A deleted one has its id. */
export function useOptionNames(name: ChosenFilter, values: string[]): (value: string) => string {
  const api = useApi()
  const names = useQuery({
    ...(name === 'linkId'
      ? linkNamesQuery(api, values)
      : valueNamesQuery(api, name === 'form' ? name : 'tagId', values)),
    enabled: ['linkId', 'tagId', 'form'].includes(name) && values.length > 0,
    placeholderData: (before: Record<string, string> | undefined) => before,
  })
  return (value) => names.data?.[value] ?? formatDimensionValue(name, value)
}

/** The names of links that have no clicks yet too, which analytics do not know. */
const linkNamesQuery = (api: Api, ids: string[]) => ({
  queryKey: [api.workspaceId, 'names', 'links', ids],
  async queryFn({ signal }: { signal: AbortSignal }): Promise<Record<string, string>> {
    const links = await Promise.all(
      ids.map((id) => api.get<LinkResource>(`/links/${id}`, { signal }).catch(() => undefined)),
    )
    return Object.fromEntries(links.flatMap((link) => (link ? [[String(link.id), toLinkName(link)]] : [])))
  },
})
