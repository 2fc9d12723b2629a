// A line over time, with the previous period as a dashed line. The pointer or the arrow keys select a point; dragging, or Shift
// with the arrow keys, selects a range. Screen readers get a table.

import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react'
import type { ChartPoint } from './chart-point.ts'
import { ChartSlider } from './chart-slider.tsx'
import { LinePlot, PLOT_RIGHT_MARGIN, usePlotScales } from './line-plot.tsx'
import { type PointRange, useBrush } from './use-brush.ts'

interface Props {
  /** The name of the counted thing, such as `Clicks`. */
  metric: string
  points: ChartPoint[]
  format: (value: number) => string
  /** The period of the last point has not ended, so its value still grows. */
  unfinished: boolean
  /** Zooms in on a point. */
  onPick?: (index: number) => void
  /** Zooms in on a range of points. */
  onPickRange?: (range: PointRange) => void
  /** Undoes the last zoom; undefined when nothing is zoomed. */
  onReset?: () => void
}

export function LineChart(props: Props) {
  const { metric, points, onPick, onPickRange } = props
  const { ref, width, height } = useElementSize<HTMLDivElement>()
  const slider = useRef<HTMLInputElement>(null)
  const [selected, select] = useState<number | null>(null)
  usePointerDownOutside(ref, selected !== null, select)
  const plot = usePlotScales(points, { width, height })
  const shown = selected !== null && selected < points.length ? selected : null
  const brush = useBrush(onPickRange)
  const range = brush.toRange(shown)
  const nearest = (event: PointerEvent<HTMLDivElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left
    const part = (x - plot.box.left) / Math.max(1, width - PLOT_RIGHT_MARGIN - plot.box.left)
    return Math.min(points.length - 1, Math.max(0, Math.round(part * (points.length - 1))))
  }
  const onPointerUp = (event: PointerEvent<HTMLDivElement>) => {
    const isClick = !brush.release(nearest(event))
    // Escape then reaches the chart, and undoes the zoom.
    if (event.pointerType === 'mouse' && !isClick) slider.current?.focus({ preventScroll: true })
    else if (isClick && event.button === 0 && shown !== null && matchMedia('(hover: hover)').matches)
      onPick?.(shown)
  }
  return (
    <div className="relative has-focus-visible:outline-2 has-focus-visible:outline-offset-4 has-focus-visible:outline-accent rounded-lg">
      <ChartSlider {...props} {...{ slider, brush, range, selected: shown, select }} />
      <div
        ref={ref}
        className="relative h-56 touch-pan-y select-none sm:h-72"
        onPointerDown={(event) => {
          select(nearest(event))
          brush.press(event, nearest(event))
        }}
        onPointerMove={(event) => {
          select(nearest(event))
          brush.move(event)
        }}
        onPointerUp={onPointerUp}
        // The browser scrolls instead.
        onPointerCancel={brush.cancel}
        // After a touch, the selected point stays, so that its value can be read.
        onPointerLeave={(event) => event.pointerType === 'mouse' && select(null)}
      >
        {width > 0 && <LinePlot {...{ plot, points, shown, range }} unfinished={props.unfinished} />}
        {shown !== null && points[shown] && (
          <ChartTooltip
            x={plot.x(shown)}
            width={width}
            metric={metric}
            point={points[shown]}
            title={range ? `${points[range.first]?.short} – ${points[range.last]?.short}` : undefined}
            format={props.format}
          />
        )}
      </div>
      <Table {...props} />
    </div>
  )
}

/** The current width and height of an element, in pixels. */
function useElementSize<E extends HTMLElement>() {
  const ref = useRef<E>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return
      const { width, height } = entry.contentRect
      setSize((before) => (before.width === width && before.height === height ? before : { width, height }))
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, ...size }
}

const formatValue = (value: number | undefined, format: (value: number) => string) =>
  value === undefined ? '–' : format(value)

const TOOLTIP_WIDTH = 208

/** The tooltip beside the selected point of a chart. */
function ChartTooltip({
  x,
  width,
  metric,
  point,
  title,
  format,
}: {
  x: number
  width: number
  metric: string
  point: ChartPoint
  /** The selected range. */
  title?: string
  format: (value: number) => string
}) {
  // The tooltip is beside the line. It never covers the line and never leaves the chart.
  const right = x + 14 + TOOLTIP_WIDTH <= width
  const left = right ? x + 14 : Math.max(0, x - 14 - TOOLTIP_WIDTH)
  return (
    <div
      aria-hidden
      style={{ left, width: Math.min(TOOLTIP_WIDTH, width) }}
      className="pointer-events-none absolute top-1 z-10 rounded-xl border border-line bg-card px-3 py-2 text-sm shadow-lg"
    >
      {title && <p className="mb-1 border-b border-line pb-1 font-semibold">{title}</p>}
      <p className="font-medium">{point.label}</p>
      <p className="mt-1 flex items-center gap-2">
        <span className="h-0.5 w-3 rounded bg-accent" />
        <span className="flex-1 text-soft">{metric}</span>
        <span className="font-semibold tabular-nums">{formatValue(point.value, format)}</span>
      </p>
      {point.previous !== undefined && (
        <p className="flex items-center gap-2 text-soft">
          <span className="w-3 border-t-2 border-dotted border-strong" />
          <span className="min-w-0 flex-1 truncate">{point.previousLabel ?? 'Previous period'}</span>
          <span className="tabular-nums">{format(point.previous)}</span>
        </p>
      )}
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

const Table = ({ metric, points, format }: Props) => (
  <div className="sr-only">
    <table>
      <caption>{metric} over time</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">{metric}</th>
          <th scope="col">Compared period</th>
        </tr>
      </thead>
      <tbody>
        {points.map((point, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: points have no id but their position
          <tr key={index}>
            <th scope="row">{point.label}</th>
            <td>{formatValue(point.value, format)}</td>
            <td>{formatValue(point.previous, format)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
