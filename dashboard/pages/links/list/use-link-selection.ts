// The links that are selected for a bulk action.

import { useCallback, useMemo, useRef, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'

export type LinkSelection = ReturnType<typeof useLinkSelection>

/** @param links in the order of the list: Shift selects every link between the last click and this one */
export function useLinkSelection(links: LinkResource[]) {
  const [ids, setIds] = useState<ReadonlySet<number>>(new Set())
  const last = useRef<number>(undefined)
  const latestLinks = useRef(links)
  latestLinks.current = links
  const toggle = useCallback((id: number, withShift = false) => {
    const order = latestLinks.current.map((link) => link.id)
    const [from, to] = [order.indexOf(last.current ?? id), order.indexOf(id)].sort((a, b) => a - b) as [
      number,
      number,
    ]
    last.current = id
    setIds((before) => {
      const next = new Set(before)
      const add = !before.has(id)
      for (const each of withShift && from >= 0 ? order.slice(from, to + 1) : [id]) {
        if (add) next.add(each)
        else next.delete(each)
      }
      return next
    })
  }, [])
  const clear = useCallback(() => setIds(new Set()), [])
  const selectAll = useCallback(() => setIds(new Set(latestLinks.current.map((link) => link.id))), [])
  // Bulk actions skip links that a filter or a deletion has hidden.
  const selected = useMemo(
    () => (ids.size === 0 ? [] : links.filter((link) => ids.has(link.id))),
    [links, ids],
  )
  return { ids, selected, toggle, clear, selectAll }
}
