// What the Links page shows, as it stands in the address, and the list that is.

import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { linksQuery } from '../../api/links.ts'
import { useApi } from '../../shell/workspace.ts'

const FROM = '/$workspaceId/links'
/** Faster typing than this asks once. */
const TYPING_MS = 120

export type Filters = Pick<
  ReturnType<typeof useLinkSearch>,
  'search' | 'tagId' | 'domain' | 'archived' | 'sort' | 'order'
>

export const useLinkSearch = () => useSearch({ from: FROM })

/** Only what the list is asked by, so that an open drawer does not make another question. */
export const filtersOf = ({ search, tagId, domain, archived, sort, order }: Filters): Filters => ({
  search,
  tagId,
  domain,
  archived,
  sort,
  order,
})

export const isFiltered = ({ search, tagId, domain, archived }: Filters) =>
  Boolean(search || tagId || domain || archived)

export const NO_FILTERS = { search: undefined, tagId: undefined, domain: undefined, archived: undefined }

export const useLinks = (filters: Filters) => useInfiniteQuery(linksQuery(useApi(), filters))

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
export function useSearchText() {
  const { search = '' } = useLinkSearch()
  const set = useSetLinkSearch()
  const [text, setText] = useState(search)
  const asked = useRef(search)
  useEffect(() => {
    // Cleared, or gone back, by something else than typing.
    if (search === asked.current) return
    asked.current = search
    setText(search)
  }, [search])
  useEffect(() => {
    const wanted = text.trim()
    if (wanted === asked.current) return
    const timer = setTimeout(() => {
      asked.current = wanted
      set({ search: wanted })
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text, set])
  return [text, setText] as const
}
