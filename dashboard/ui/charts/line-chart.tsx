// A line over time, with the previous period as a dashed line. The pointer or the arrow keys select a point; dragging, or Shift
// with the arrow keys, selects a range. Screen readers get a table.

import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react'
import type { ChartPoint } from './chart-point.ts'
import { ChartSlider } from './chart-slider.tsx'
import { ChartTooltip } from './chart-tooltip.tsx'
import { LinePlot, PLOT_RIGHT_MARGIN, usePlotScales } from './line-plot.tsx'
import { type PointRange, useBrush } from './use-brush.ts'
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
