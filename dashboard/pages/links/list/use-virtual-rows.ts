// Which rows of a long list are in sight. With rows of one height this is a division; a library for rows of any height
// would be a twentieth of all the code that the first page loads.

import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'

/** Rows drawn beyond both edges, and the step in which they change: not every few pixels. */
const OVERSCAN_ROWS = 8
const STEP = 4
/** What may stand over the page's edges: the bar of the phone above, the bar of the selection below. */
const COVERED = { above: 64, below: 80 }

interface Options {
  count: number
  /** Pixels. */
  height: number
  list: RefObject<HTMLElement | null>
}

export function useVirtualRows({ count, height, list }: Options) {
  const [range, setRange] = useState({ from: 0, to: Math.min(count, 2 * OVERSCAN_ROWS) })
  /** Where the list begins on the page. */
  const top = useRef(0)
  useLayoutEffect(() => {
    const look = () => {
      const first = (window.scrollY - top.current) / height
      const from = Math.max(0, Math.floor((first - OVERSCAN_ROWS) / STEP) * STEP)
      const to = Math.min(
        count,
        Math.ceil((first + window.innerHeight / height + OVERSCAN_ROWS) / STEP) * STEP,
      )
      setRange((now) => (now.from === from && now.to === to ? now : { from, to }))
    }
    // Not while scrolling: asking where something is makes the browser lay the page out.
    const measure = () => {
      top.current = (list.current?.getBoundingClientRect().top ?? 0) + window.scrollY
      look()
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(list.current?.closest('main') ?? document.body)
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', measure)
    return () => {
      observer.disconnect()
      removeEventListener('scroll', look)
      removeEventListener('resize', measure)
    }
  }, [count, height, list])

  const scrollTo = useCallback(
    (index: number) => {
      const row = top.current + index * height
      const highest = row - COVERED.above
      const lowest = row + height + COVERED.below - window.innerHeight
      if (window.scrollY > highest) window.scrollTo({ top: highest })
      else if (window.scrollY < lowest) window.scrollTo({ top: lowest })
    },
    [height],
  )
  /** The first that is in sight as a whole. */
  const firstSeen = useCallback(
    () => Math.max(0, Math.ceil((window.scrollY + COVERED.above - top.current) / height)),
    [height],
  )
  return { ...range, scrollTo, firstSeen }
}
