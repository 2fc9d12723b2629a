// Four numbers and how they have moved.

import { ArrowDownRight, ArrowUpRight, Minus } from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from '../../../ui/class-names.ts'
import { formatNumber, formatPercent, formatShort } from '../../../ui/format.ts'
import { Skeleton } from '../../../ui/states.tsx'
import { type AnalyticsMetric, formatRate, METRIC_LABELS } from '../view/dimensions.ts'
import { type AnalyticsView, explainUnavailable } from '../view/use-analytics-view.ts'
import type { AnalyticsTotals } from './overview.tsx'

/** From here on a number is cut: 1,234,567 is wider than a phone's half. */
const LONG = 1_000_000

interface MetricValue {
  /** null: there is none under these filters; undefined: it loads. */
  now: number | null | undefined
  before: number | undefined
}

export function MetricTiles({ view, totals }: { view: AnalyticsView; totals: AnalyticsTotals }) {
  const { clicks, leads, clicksBefore, leadsBefore, before } = totals
  const of = (
    asked: object | null,
    now: number | undefined,
    then: number | undefined,
    error: Error | null,
  ): MetricValue => ({
    now: asked && !(error && now === undefined) ? now : null,
    before: before ? then : undefined,
  })
  const figures: Record<AnalyticsMetric, MetricValue> = {
    clicks: of(view.clicks, clicks.data?.count, clicksBefore.data?.count, clicks.error),
    visitors: of(view.clicks, clicks.data?.visitors, clicksBefore.data?.visitors, clicks.error),
    leads: of(view.leads, leads.data?.count, leadsBefore.data?.count, leads.error),
  }
  const rate: MetricValue = {
    now: toRate(figures.leads.now, figures.clicks.now),
    before: toRate(figures.leads.before, figures.clicks.before) ?? undefined,
  }
  return (
    <div className="grid grid-cols-2 sm:grid-cols-4">
      {(Object.keys(METRIC_LABELS) as AnalyticsMetric[]).map((metric) => (
        <Tile
          key={metric}
          label={METRIC_LABELS[metric]}
          figure={figures[metric]}
          format={(value) => (value >= LONG ? formatShort(value) : formatNumber(value))}
          stale={(metric === 'leads' ? leads : clicks).isPlaceholderData}
          chosen={view.metric === metric}
          choose={() => view.set({ metric: metric === 'clicks' ? undefined : metric })}
          why={
            explainUnavailable(view, metric === 'leads' ? 'leads' : 'clicks') || 'This could not be loaded'
          }
        />
      ))}
      <Tile
        label="Leads per click"
        figure={rate}
        format={formatRate}
        stale={leads.isPlaceholderData || clicks.isPlaceholderData}
        why="There are no clicks to compare with"
      />
    </div>
  )
}

function toRate(leads: number | null | undefined, clicks: number | null | undefined) {
  if (leads === undefined || clicks === undefined) return undefined
  return leads === null || clicks === null || clicks === 0 ? null : leads / clicks
}

interface TileProps {
  label: string
  figure: MetricValue
  format: (value: number) => string
  chosen?: boolean
  choose?: () => void
  /** The number is that of another question still. */
  stale?: boolean
  /** Why there is no number. */
  why: string
}

const CORNERS = 'first:rounded-tl-2xl sm:last:rounded-tr-2xl max-sm:nth-2:rounded-tr-2xl'
const LINES = 'border-line max-sm:odd:border-r sm:not-last:border-r max-sm:nth-[-n+2]:border-b'

function Tile({ label, figure, format, chosen, choose, stale, why }: TileProps) {
  const { now } = figure
  const body = (
    <>
      <span
        className={classNames('block truncate text-sm', chosen ? 'font-medium text-accent' : 'text-soft')}
      >
        {label}
      </span>
      <span className="mt-1 flex h-7 flex-wrap items-baseline gap-x-2 overflow-hidden sm:h-8">
        {now === undefined ? (
          <Skeleton className="h-6 w-20 self-center" />
        ) : (
          <span
            className={classNames(
              'text-xl font-semibold sm:text-2xl tracking-tight tabular-nums transition-opacity',
              stale && 'opacity-50',
            )}
            title={now === null ? why : undefined}
          >
            {now === null ? <Absent why={why} /> : format(now)}
          </span>
        )}
        {!stale && <Change {...figure} format={format} />}
      </span>
    </>
  )
  const look = classNames('px-4 py-3.5 text-left sm:px-5', CORNERS, LINES)
  if (!choose) return <div className={look}>{body}</div>
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={choose}
      disabled={now === null}
      className={classNames(
        look,
        'hover:bg-hover focus-visible:z-10 disabled:hover:bg-transparent',
        chosen && 'shadow-[inset_0_-2px_0_var(--color-accent)]',
      )}
    >
      {body}
    </button>
  )
}

const Absent = ({ why }: { why: string }) => (
  <>
    <span aria-hidden className="text-soft">
      –
    </span>
    <span className="sr-only">{why}</span>
  </>
)

function Change({ now, before, format }: MetricValue & { format: (value: number) => string }): ReactNode {
  if (now === undefined || now === null || before === undefined) return null
  const then = `${format(before)} in the period before`
  if (before === 0) {
    return now === 0 ? null : (
      <span title={then} className="text-sm text-soft">
        from 0
      </span>
    )
  }
  const part = (now - before) / before
  const Icon = Math.abs(part) < 0.0005 ? Minus : part > 0 ? ArrowUpRight : ArrowDownRight
  return (
    <span
      title={then}
      className={classNames(
        'inline-flex items-center gap-0.5 text-sm font-medium tabular-nums',
        part > 0 ? 'text-accent' : part < 0 ? 'text-danger' : 'text-soft',
      )}
    >
      <Icon size={14} aria-hidden />
      <span className="sr-only">{part >= 0 ? 'up' : 'down'} </span>
      {part >= 10 ? `×${formatShort(now / before)}` : formatPercent(Math.abs(part))}
      <span className="sr-only">, {then}</span>
    </span>
  )
}
