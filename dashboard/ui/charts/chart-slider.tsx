// An invisible slider over a chart, so that arrow keys, Home, End and screen readers work as usual on the platform.

import { type FocusEvent, type KeyboardEvent, type RefObject, useId } from 'react'
import type { ChartPoint } from './chart-point.ts'
import type { PointRange, useBrush } from './use-brush.ts'

interface Props {
  metric: string
  points: ChartPoint[]
  format: (value: number) => string
  onPick?: (index: number) => void
  onPickRange?: (range: PointRange) => void
  onReset?: () => void
  slider: RefObject<HTMLInputElement | null>
  brush: Pick<ReturnType<typeof useBrush>, 'anchor' | 'setAnchor'>
  range: PointRange | null
  selected: number | null
  select: (selected: number | null) => void
}

export function ChartSlider(props: Props) {
  const { metric, points, format, onPick, onPickRange, slider, brush, range, selected, select } = props
  const help = useId()
  const last = Math.max(0, points.length - 1)
  const point = points[selected ?? last]
  const text = point && `${point.label}: ${point.value === undefined ? '–' : format(point.value)}`
  const rangeText = range && `${points[range.first]?.label} to ${points[range.last]?.label} selected`
  const helpTexts = [
    ...(onPick ? ['Press Enter to zoom in.'] : []),
    ...(onPickRange ? ['Hold Shift with the arrow keys to select a range.'] : []),
    ...(props.onReset ? ['Press Escape to zoom out.'] : []),
  ]
  return (
    <>
      <input
        ref={slider}
        type="range"
        aria-label={`${metric} over time`}
        aria-valuetext={rangeText ? `${rangeText}. ${text}` : text}
        aria-describedby={helpTexts.length > 0 ? help : undefined}
        min={0}
        max={last}
        value={selected ?? last}
        onChange={(event) => select(Number(event.target.value))}
        // A drag with the mouse focuses the slider too, and must not open the tooltip.
        onFocus={(event: FocusEvent) => event.target.matches(':focus-visible') && select(last)}
        onBlur={() => {
          select(null)
          brush.setAnchor(null)
        }}
        onKeyDown={(event) => onKeyDown(event, props, last)}
        className="pointer-events-none absolute inset-0 size-full opacity-0"
      />
      {helpTexts.length > 0 && (
        <span id={help} className="sr-only">
          {helpTexts.join(' ')}
        </span>
      )}
    </>
  )
}

const MOVES = /^(Arrow|Page|Home|End)/

function onKeyDown(
  event: KeyboardEvent,
  { onPick, onPickRange, onReset, brush, range, selected, select }: Props,
  last: number,
) {
  if (MOVES.test(event.key)) {
    if (!event.shiftKey) brush.setAnchor(null)
    else if (onPickRange && brush.anchor === null) brush.setAnchor(selected ?? last)
  } else if (event.key === 'Enter') {
    brush.setAnchor(null)
    if (range) onPickRange?.(range)
    else if (selected !== null) onPick?.(selected)
  } else if (event.key === 'Escape') {
    if (range) brush.setAnchor(null)
    else if (onReset) onReset()
    else select(null)
  }
}
