// The drawing of a line chart: axes, the line with its area, and the line of the previous period.

import { useId, useMemo } from 'react'
import { formatShort } from '../format.ts'
import type { ChartPoint } from './chart-point.ts'
import { chooseTicks, toCurve } from './curve.ts'
import type { PointRange } from './use-brush.ts'

const TOP = 12
const BOTTOM = 26
export const PLOT_RIGHT_MARGIN = 14
/** Width of a label on the x axis, with its margin, in pixels. */
const LABEL_WIDTH = 84

interface Box {
  width: number
  height: number
  left: number
}

type Plot = ReturnType<typeof usePlotScales>

/** The scales from values and times to pixels. */
export function usePlotScales(points: ChartPoint[], { width, height }: { width: number; height: number }) {
  return useMemo(() => {
    const highest = Math.max(1, ...points.map(({ value, previous }) => Math.max(value ?? 0, previous ?? 0)))
    const lines = chooseTicks(highest)
    const ground = height - BOTTOM
    const y = (value: number) => ground - (value / (lines.at(-1) ?? 1)) * (ground - TOP)
    // Clicks are whole numbers. A lead shared by several links counts as a fraction on each.
    const whole = points.every(
      ({ value, previous }) => Number.isInteger(value ?? 0) && Number.isInteger(previous ?? 0),
    )
    const ticks = lines.filter((tick) => !whole || Number.isInteger(tick))
    const left = 10 + 7.5 * Math.max(...ticks.map((tick) => formatShort(tick).length))
    const box: Box = { width, height, left }
    const room = Math.max(0, width - PLOT_RIGHT_MARGIN - left)
    const x = (index: number) =>
      points.length === 1 ? left + room / 2 : left + (index / (points.length - 1)) * room
    return { x, y, ticks, box, room }
  }, [points, width, height])
}

export function LinePlot({
  plot: { x, y, ticks, box, room },
  points,
  unfinished,
  shown,
  range,
}: {
  plot: Plot
  points: ChartPoint[]
  unfinished: boolean
  shown: number | null
  /** The selected range of points. */
  range: PointRange | null
}) {
  const ground = box.height - BOTTOM
  const paths = useMemo(() => {
    const toPath = (indexes: number[], toValue: (point: ChartPoint) => number | undefined) =>
      toCurve(
        indexes.map(x),
        indexes.map((index) => y(toValue(points[index] as ChartPoint) ?? 0)),
      )
    const runs = listRuns(points, ({ value }) => value)
    const lines = runs.map((run) => toPath(run, ({ value }) => value))
    const previousRuns = listRuns(points, ({ previous }) => previous).filter((run) => run.length > 1)
    return {
      area: lines
        .map((path, i) => `${path}L${x(runs[i]?.at(-1) ?? 0)},${ground}L${x(runs[i]?.[0] ?? 0)},${ground}Z`)
        .join(''),
      line: lines.join(''),
      previous: previousRuns.map((run) => toPath(run, ({ previous }) => previous)).join(''),
    }
  }, [points, x, y, ground])
  // Dashed while the last period runs: a drop there means nothing.
  const running = unfinished && points.length > 2
  const point = shown === null ? undefined : points[shown]
  const only = findOnlyPoint(points)
  return (
    <svg width={box.width} height={box.height} aria-hidden className="absolute inset-0">
      <Axes {...{ x, y, ticks, box, room, points }} />
      {range && (
        <rect
          data-brush
          x={x(range.first)}
          y={TOP}
          width={x(range.last) - x(range.first)}
          height={ground - TOP}
          className="fill-accent/15 stroke-accent"
        />
      )}
      {paths.area && <path d={paths.area} className="fill-accent/10" />}
      {paths.previous && (
        <path
          d={paths.previous}
          fill="none"
          strokeDasharray="2 4"
          className="stroke-strong"
          strokeWidth={1.75}
        />
      )}
      {paths.line && <Line path={paths.line} box={box} until={running ? x(points.length - 2) : box.width} />}
      {only && <circle cx={x(points.indexOf(only))} cy={y(only.value ?? 0)} r={4} className="fill-accent" />}
      {point && shown !== null && <PointMarker point={point} x={x(shown)} y={y} ground={ground} />}
    </svg>
  )
}

/** The indexes of points that follow each other and have a value. */
function listRuns(points: ChartPoint[], toValue: (point: ChartPoint) => number | undefined): number[][] {
  const runs: number[][] = [[]]
  for (const [index, point] of points.entries()) {
    if (toValue(point) === undefined) runs.push([])
    else runs.at(-1)?.push(index)
  }
  return runs.filter((run) => run.length > 0)
}

/** One point is no line. */
function findOnlyPoint(points: ChartPoint[]): ChartPoint | undefined {
  const counted = points.filter(({ value }) => value !== undefined)
  return counted.length === 1 ? counted[0] : undefined
}

/** Dashed after `until`. Both parts are one curve, clipped twice, so that it matches the edge of the area. */
function Line({ path, box, until }: { path: string; box: Box; until: number }) {
  const id = useId()
  const stroke = { d: path, fill: 'none', strokeWidth: 2.25, className: 'stroke-accent' }
  return (
    <g>
      <clipPath id={`${id}-whole`}>
        <rect width={until} height={box.height} />
      </clipPath>
      <clipPath id={`${id}-rest`}>
        <rect x={until} width={box.width - until} height={box.height} />
      </clipPath>
      <path {...stroke} clipPath={`url(#${id}-whole)`} />
      {until < box.width && <path {...stroke} strokeDasharray="3 4" clipPath={`url(#${id}-rest)`} />}
    </g>
  )
}

const PointMarker = ({
  point,
  x,
  y,
  ground,
}: {
  point: ChartPoint
  x: number
  y: Plot['y']
  ground: number
}) => (
  <g>
    <line x1={x} x2={x} y1={TOP} y2={ground} className="stroke-strong" />
    {point.previous !== undefined && <circle cx={x} cy={y(point.previous)} r={3.5} className="fill-strong" />}
    {point.value !== undefined && (
      <circle cx={x} cy={y(point.value)} r={5} className="fill-accent stroke-card" strokeWidth={2} />
    )}
  </g>
)

function Axes({
  x,
  y,
  ticks,
  box,
  room,
  points,
}: Pick<Plot, 'x' | 'y' | 'ticks' | 'box' | 'room'> & { points: ChartPoint[] }) {
  const step = Math.max(1, Math.ceil(points.length / Math.max(1, Math.floor(room / LABEL_WIDTH))))
  const toAnchor = (index: number) => {
    if (points.length > 1 && x(index) - LABEL_WIDTH / 2 < 0) return 'start'
    return x(index) + LABEL_WIDTH / 3 > box.width ? 'end' : 'middle'
  }
  return (
    <g className="fill-soft text-xs">
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            x1={box.left}
            x2={box.width - PLOT_RIGHT_MARGIN}
            y1={y(tick)}
            y2={y(tick)}
            className="stroke-line"
            strokeDasharray={tick === 0 ? undefined : '2 3'}
          />
          <text x={box.left - 8} y={y(tick)} dy="0.32em" textAnchor="end" className="tabular-nums">
            {formatShort(tick)}
          </text>
        </g>
      ))}
      {points.map(
        (point, index) =>
          index % step === 0 && (
            // biome-ignore lint/suspicious/noArrayIndexKey: a point has no id, only its position
            <text key={index} x={x(index)} y={box.height - 6} textAnchor={toAnchor(index)}>
              {point.short}
            </text>
          ),
      )}
    </g>
  )
}
