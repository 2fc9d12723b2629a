// The tooltip beside the selected point of a chart.

import type { ChartPoint } from './chart-point.ts'

const WIDTH = 208

export function ChartTooltip({
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
  // The tooltip is beside the line, never over it, and never outside the chart.
  const right = x + 14 + WIDTH <= width
  const left = right ? x + 14 : Math.max(0, x - 14 - WIDTH)
  return (
    <div
      aria-hidden
      style={{ left, width: Math.min(WIDTH, width) }}
      className="pointer-events-none absolute top-1 z-10 rounded-xl border border-line bg-card px-3 py-2 text-sm shadow-lg"
    >
      {title && <p className="mb-1 border-b border-line pb-1 font-semibold">{title}</p>}
      <p className="font-medium">{point.label}</p>
      <p className="mt-1 flex items-center gap-2">
        <span className="h-0.5 w-3 rounded bg-accent" />
        <span className="flex-1 text-soft">{metric}</span>
        <span className="font-semibold tabular-nums">{format(point.value)}</span>
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
