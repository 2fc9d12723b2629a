// A range of points, chosen by dragging over a chart or with Shift and the arrow keys.

import { type PointerEvent, useEffect, useState } from 'react'

/** Indexes of points, both inclusive. */
export interface PointRange {
  first: number
  last: number
}

/** A shorter way is a click with an unsteady hand. */
const DRAG_PX = 6

interface Drag {
  from: number
  x: number
  moved: boolean
  /** By Escape, while the button is still down. */
  canceled?: true
}

/** @param choose gets the range when the drag ends */
export function useBrush(choose: ((range: PointRange) => void) | undefined) {
  const [anchor, setAnchor] = useState<number | null>(null)
  const [drag, setDrag] = useState<Drag | null>(null)
  const isDragging = drag !== null
  useEffect(() => {
    if (!isDragging) return
    const cancel = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.stopPropagation()
      setDrag((current) => current && { ...current, canceled: true })
    }
    addEventListener('keydown', cancel, true)
    return () => removeEventListener('keydown', cancel, true)
  }, [isDragging])
  const start = drag?.moved && !drag.canceled ? drag.from : anchor
  return {
    /** The range from the start of the drag, or from the anchor of the keyboard, to the selected point. */
    toRange: (selected: number | null): PointRange | null =>
      start === null || selected === null || start === selected
        ? null
        : { first: Math.min(start, selected), last: Math.max(start, selected) },
    anchor,
    setAnchor,
    press(event: PointerEvent<HTMLElement>, index: number) {
      setAnchor(null)
      if (!choose || event.button !== 0) return
      // The drag continues outside the chart.
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag({ from: index, x: event.clientX, moved: false })
    },
    move(event: PointerEvent<HTMLElement>) {
      if (drag && !drag.moved && Math.abs(event.clientX - drag.x) > DRAG_PX) setDrag({ ...drag, moved: true })
    },
    /** @returns whether a drag has ended, or was canceled: then it was no click */
    release(index: number): boolean {
      setDrag(null)
      if (!drag?.moved && !drag?.canceled) return false
      if (!drag.canceled && drag.from !== index)
        choose?.({ first: Math.min(drag.from, index), last: Math.max(drag.from, index) })
      return true
    },
    cancel: () => setDrag(null),
  }
}
