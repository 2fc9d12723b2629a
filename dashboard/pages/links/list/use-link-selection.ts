// Which links are chosen for a bulk action.

import { useCallback, useMemo, useRef, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'

export type LinkSelection = ReturnType<typeof useLinkSelection>

/** @param links as they are shown, in their order: with Shift everything up to the last one is chosen */
export function useLinkSelection(links: LinkResource[]) {
  const [ids, setIds] = useState<ReadonlySet<number>>(new Set())
  const last = useRef<number>(undefined)
  const shown = useRef(links)
  shown.current = links
  const toggle = useCallback((id: number, withShift = false) => {
    const order = shown.current.map((link) => link.id)
    const [from, to] = [order.indexOf(last.current ?? id), order.indexOf(id)].sort((a, b) => a - b) as [
      number,
      number,
    ]
    last.current = id
    setIds((before) => {
      const next = new Set(before)
      const add = !before.has(id)
      for (const one of withShift && from >= 0 ? order.slice(from, to + 1) : [id]) {
        if (add) next.add(one)
        else next.delete(one)
      }
      return next
    })
  }, [])
  const clear = useCallback(() => setIds(new Set()), [])
  const all = useCallback(() => setIds(new Set(shown.current.map((link) => link.id))), [])
  // What a filter or a deletion has taken away is not changed unseen.
  const chosen = useMemo(() => (ids.size === 0 ? [] : links.filter((link) => ids.has(link.id))), [links, ids])
  return { ids, chosen, toggle, clear, all }
}
