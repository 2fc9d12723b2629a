// A line over time, with the previous period as a dashed line. The pointer or the arrow keys select a point. Screen
// readers get a table.

import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useId, useState } from 'react'
import type { ChartPoint } from './chart-point.ts'
import { ChartTooltip } from './chart-tooltip.tsx'
import { LinePlot, PLOT_RIGHT_MARGIN, usePlotScales } from './line-plot.tsx'
import { useElementSize } from './use-element-size.ts'

interface Props {
  /** The name of what is counted, such as `Clicks`. */
  metric: string
  points: ChartPoint[]
  format: (value: number) => string
  /** The period of the last point has not ended, so that its value still grows. */
  unfinished: boolean
  /** Zooms in on a point. */
  onPick?: (index: number) => void
}

export function LineChart(props: Props) {
  const { metric, points, onPick } = props
  const { ref, width, height } = useElementSize<HTMLDivElement>()
  const [selected, select] = useState<number | null>(null)
  usePointerDownOutside(ref, selected !== null, select)
  const plot = usePlotScales(points, { width, height })
  const shown = selected !== null && selected < points.length ? selected : null
  const nearest = (event: PointerEvent<HTMLDivElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left
    const part = (x - plot.box.left) / Math.max(1, width - PLOT_RIGHT_MARGIN - plot.box.left)
    return Math.min(points.length - 1, Math.max(0, Math.round(part * (points.length - 1))))
  }
  return (
    <div className="relative has-focus-visible:outline-2 has-focus-visible:outline-offset-4 has-focus-visible:outline-accent rounded-lg">
      <KeyboardSlider {...props} selected={shown} select={select} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the slider above serves the keyboard */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on the slider does the same */}
      <div
        ref={ref}
        className="relative h-56 touch-pan-y sm:h-72"
        onPointerMove={(event) => select(nearest(event))}
        onPointerDown={(event) => select(nearest(event))}
        // After a touch, the selected point stays, so that its value can be read.
        onPointerLeave={(event) => event.pointerType === 'mouse' && select(null)}
        onClick={() => shown !== null && matchMedia('(hover: hover)').matches && onPick?.(shown)}
      >
        {width > 0 && <LinePlot plot={plot} points={points} unfinished={props.unfinished} shown={shown} />}
        {shown !== null && points[shown] && (
          <ChartTooltip
            x={plot.x(shown)}
            width={width}
            metric={metric}
            point={points[shown]}
            format={props.format}
          />
        )}
      </div>
      <Table {...props} />
    </div>
  )
}

/** Clears the selection when the pointer goes down outside the chart. */
function usePointerDownOutside(
  ref: RefObject<HTMLElement | null>,
  on: boolean,
  select: (selected: null) => void,
) {
  useEffect(() => {
    if (!on) return
    const handlePointerDown = (event: globalThis.PointerEvent) => {
      if (event.target instanceof Node && !ref.current?.contains(event.target)) select(null)
    }
    addEventListener('pointerdown', handlePointerDown)
    return () => removeEventListener('pointerdown', handlePointerDown)
  }, [ref, on, select])
}

/** An invisible slider, so that arrow keys, Home, End and screen readers work as the platform has them. */
function KeyboardSlider({
  metric,
  points,
  format,
  onPick,
  selected,
  select,
}: Props & { selected: number | null; select: (selected: number | null) => void }) {
  const help = useId()
  const last = points.length - 1
  const point = points[selected ?? last]
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && selected !== null) onPick?.(selected)
    if (event.key === 'Escape') select(null)
  }
  return (
    <>
      <input
        type="range"
        aria-label={`${metric} over time`}
        aria-valuetext={point && `${point.label}: ${format(point.value)}`}
        aria-describedby={onPick && help}
        min={0}
        max={Math.max(0, last)}
        value={selected ?? Math.max(0, last)}
        onChange={(event) => select(Number(event.target.value))}
        onFocus={() => select(last)}
        onBlur={() => select(null)}
        onKeyDown={onKeyDown}
        className="pointer-events-none absolute inset-0 size-full opacity-0"
      />
      {onPick && (
        <span id={help} className="sr-only">
          Press Enter to zoom in
        </span>
      )}
    </>
  )
}

const Table = ({ metric, points, format }: Props) => (
  <div className="sr-only">
    <table>
      <caption>{metric} over time</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">{metric}</th>
          <th scope="col">Previous period</th>
        </tr>
      </thead>
      <tbody>
        {points.map((point, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: points have no id but their position
          <tr key={index}>
            <th scope="row">{point.label}</th>
            <td>{format(point.value)}</td>
            <td>{point.previous === undefined ? '–' : format(point.previous)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
