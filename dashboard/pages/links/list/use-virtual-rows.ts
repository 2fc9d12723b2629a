// The visible rows of a long list. All rows have the same height, so that a division finds them. A library for rows
// of any height would be a twentieth of the code that the first page loads.

import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'

/** Rows drawn beyond both edges. The range changes in steps, not with every scrolled pixel. */
const OVERSCAN_ROWS = 8
const STEP = 4
/** Pixels that fixed bars may cover: the phone's top bar, and the bulk bar at the bottom. */
const COVERED = { above: 64, below: 80 }

interface Options {
  count: number
  /** The height of a row, in pixels. */
  height: number
  list: RefObject<HTMLElement | null>
}

export function useVirtualRows({ count, height, list }: Options) {
  const [range, setRange] = useState({ from: 0, to: Math.min(count, 2 * OVERSCAN_ROWS) })
  /** The position of the list on the page, in pixels. */
  const top = useRef(0)
  useLayoutEffect(() => {
    const updateRange = () => {
      const first = (window.scrollY - top.current) / height
      const from = Math.max(0, Math.floor((first - OVERSCAN_ROWS) / STEP) * STEP)
      const to = Math.min(
        count,
        Math.ceil((first + window.innerHeight / height + OVERSCAN_ROWS) / STEP) * STEP,
      )
      setRange((current) => (current.from === from && current.to === to ? current : { from, to }))
    }
    // Not while scrolling: measuring forces the browser to compute the layout.
    const measure = () => {
      top.current = (list.current?.getBoundingClientRect().top ?? 0) + window.scrollY
      updateRange()
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(list.current?.closest('main') ?? document.body)
    addEventListener('scroll', updateRange, { passive: true })
    addEventListener('resize', measure)
    return () => {
      observer.disconnect()
      removeEventListener('scroll', updateRange)
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
  /** The first row that is fully visible. */
  const firstVisible = useCallback(
    () => Math.max(0, Math.ceil((window.scrollY + COVERED.above - top.current) / height)),
    [height],
  )
  return { ...range, scrollTo, firstVisible }
}
