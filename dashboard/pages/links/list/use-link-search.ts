// What the Links page shows, as it stands in the address, and the list that is.

import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { linksQuery } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { useDebouncedText } from '../../../ui/forms/use-debounced-text.ts'

const FROM = '/$workspaceId/links'
/** Faster typing than this asks once. */
const TYPING_MS = 120

export type LinkListFilters = Pick<
  ReturnType<typeof useLinkSearch>,
  'search' | 'tagId' | 'domain' | 'archived' | 'sort' | 'order'
>

export const useLinkSearch = () => useSearch({ from: FROM })

/** Only what the list is asked by, so that an open drawer does not make another question. */
export const pickFilters = ({
  search,
  tagId,
  domain,
  archived,
  sort,
  order,
}: LinkListFilters): LinkListFilters => ({
  search,
  tagId,
  domain,
  archived,
  sort,
  order,
})

export const isFiltered = ({ search, tagId, domain, archived }: LinkListFilters) =>
  Boolean(search || tagId || domain || archived)

export const NO_FILTERS = { search: undefined, tagId: undefined, domain: undefined, archived: undefined }

export const useLinks = (filters: LinkListFilters) => useInfiniteQuery(linksQuery(useApi(), filters))

/** Changes parts of the address; an empty text takes a part out. */
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

/** The text of the search field: at once in the field, a moment later in the address. */
export function useLinkSearchText() {
  const { search = '' } = useLinkSearch()
  const set = useSetLinkSearch()
  return useDebouncedText(search, (wanted) => set({ search: wanted }), { afterMs: TYPING_MS })
}
