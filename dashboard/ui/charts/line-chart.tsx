// A line over time, with the one before it dashed. By pointer or by arrow keys one looks at a point; those who cannot see
// it have a table.

import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useId, useState } from 'react'
import { ChartTooltip } from './chart-tooltip.tsx'
import { LinePlot, PLOT_RIGHT_MARGIN, usePlotScales } from './line-plot.tsx'
import { useElementSize } from './use-element-size.ts'

export interface ChartPoint {
  /** `Saturday, 21 November` */
  label: string
  /** `21 Nov` */
  short: string
  value: number
  /** The same point of the period before, and what that is called. */
  previous?: number
  previousLabel?: string
}

interface Props {
  /** What is counted: `Clicks`. */
  what: string
  points: ChartPoint[]
  format: (value: number) => string
  /** The last point is not complete yet: it still grows. */
  unfinished: boolean
  /** Looks closer at a point. */
  onPick?: (index: number) => void
}

export function LineChart(props: Props) {
  const { what, points, onPick } = props
  const { ref, width, height } = useElementSize<HTMLDivElement>()
  const [at, look] = useState<number | null>(null)
  usePointerDownOutside(ref, at !== null, look)
  const plot = usePlotScales(points, { width, height })
  const shown = at !== null && at < points.length ? at : null
  const nearest = (event: PointerEvent<HTMLDivElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left
    const part = (x - plot.box.left) / Math.max(1, width - PLOT_RIGHT_MARGIN - plot.box.left)
    return Math.min(points.length - 1, Math.max(0, Math.round(part * (points.length - 1))))
  }
  return (
    <div className="relative has-focus-visible:outline-2 has-focus-visible:outline-offset-4 has-focus-visible:outline-accent rounded-lg">
      <KeyboardSlider {...props} at={shown} look={look} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the slider above is what the keyboard has */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on the slider does the same */}
      <div
        ref={ref}
        className="relative h-56 touch-pan-y sm:h-72"
        onPointerMove={(event) => look(nearest(event))}
        onPointerDown={(event) => look(nearest(event))}
        // A finger that is lifted has left; what it pointed at stays to be read.
        onPointerLeave={(event) => event.pointerType === 'mouse' && look(null)}
        onClick={() => shown !== null && matchMedia('(hover: hover)').matches && onPick?.(shown)}
      >
        {width > 0 && <LinePlot plot={plot} points={points} unfinished={props.unfinished} shown={shown} />}
        {shown !== null && points[shown] && (
          <ChartTooltip
            x={plot.x(shown)}
            width={width}
            what={what}
            point={points[shown]}
            format={props.format}
          />
        )}
      </div>
      <Table {...props} />
    </div>
  )
}

/** Who touches something else does not look at the point any more. */
function usePointerDownOutside(ref: RefObject<HTMLElement | null>, on: boolean, look: (at: null) => void) {
  useEffect(() => {
    if (!on) return
    const touched = (event: globalThis.PointerEvent) => {
      if (event.target instanceof Node && !ref.current?.contains(event.target)) look(null)
    }
    addEventListener('pointerdown', touched)
    return () => removeEventListener('pointerdown', touched)
  }, [ref, on, look])
}

/** An unseen slider: arrow keys, Home and End, and what screen readers say, are those of the platform. */
function KeyboardSlider({
  what,
  points,
  format,
  onPick,
  at,
  look,
}: Props & { at: number | null; look: (at: number | null) => void }) {
  const help = useId()
  const last = points.length - 1
  const point = points[at ?? last]
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && at !== null) onPick?.(at)
    if (event.key === 'Escape') look(null)
  }
  return (
    <>
      <input
        type="range"
        aria-label={`${what} over time`}
        aria-valuetext={point && `${point.label}: ${format(point.value)}`}
        aria-describedby={onPick && help}
        min={0}
        max={Math.max(0, last)}
        value={at ?? Math.max(0, last)}
        onChange={(event) => look(Number(event.target.value))}
        onFocus={() => look(last)}
        onBlur={() => look(null)}
        onKeyDown={onKeyDown}
        className="pointer-events-none absolute inset-0 size-full opacity-0"
      />
      {onPick && (
        <span id={help} className="sr-only">
          Enter looks closer
        </span>
      )}
    </>
  )
}

const Table = ({ what, points, format }: Props) => (
  <div className="sr-only">
    <table>
      <caption>{what} over time</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">{what}</th>
          <th scope="col">In the period before</th>
        </tr>
      </thead>
      <tbody>
        {points.map((point, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a point is its place
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
