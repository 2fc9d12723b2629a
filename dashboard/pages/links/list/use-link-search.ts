// The search parameters of the Links page, and the list that they select.

import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { type LinkFilters, linksQuery } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { useDebouncedText } from '../../../ui/forms/use-debounced-text.ts'

const FROM = '/$workspaceId/links'
/** Keystrokes within this time cause one request. */
const TYPING_MS = 120

export const useLinkSearch = () => useSearch({ from: FROM })

/** Only the parameters of the list's query, so that opening a drawer does not load the list again. */
export const pickFilters = ({ search, tagId, domain, archived, sort, order }: LinkFilters): LinkFilters => ({
  search,
  tagId,
  domain,
  archived,
  sort,
  order,
})

export const isFiltered = ({ search, tagId, domain, archived }: LinkFilters) =>
  Boolean(search || tagId || domain || archived)

export const NO_FILTERS = { search: undefined, tagId: undefined, domain: undefined, archived: undefined }

export const useLinks = (filters: LinkFilters) => useInfiniteQuery(linksQuery(useApi(), filters))

/** Changes search parameters; an empty text removes a parameter. */
export function useSetLinkSearch() {
  const navigate = useNavigate({ from: FROM })
  return useCallback(
    (change: Partial<ReturnType<typeof useLinkSearch>>, { replace = true } = {}) =>
      void navigate({
        search: (before) =>
          Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value)),
        replace,
        resetScroll: false,
      }),
    [navigate],
  )
}

/** The text of the search field. The address follows when typing pauses. */
export function useLinkSearchText() {
  const { search = '' } = useLinkSearch()
  const setSearch = useSetLinkSearch()
  return useDebouncedText(search, (text) => setSearch({ search: text }), { afterMs: TYPING_MS })
}
