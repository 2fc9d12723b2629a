// The four totals, each with its change since the previous period.

import { ArrowDownRight, ArrowUpRight, Minus } from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from '../../../ui/class-names.ts'
import { formatNumber, formatPercent, formatShort } from '../../../ui/format.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { type AnalyticsMetric, formatRate, METRIC_LABELS, RATE_DEFINITION } from '../view/dimensions.ts'
import { type AnalyticsView, explainUnavailable } from '../view/use-analytics-view.ts'
import type { AnalyticsTotals } from './use-totals.ts'

/** Larger numbers are shortened, because 1,234,567 does not fit into half of a phone's width. */
const SHORTEN_FROM = 1_000_000

interface MetricValue {
  /** null: no value under these filters; undefined: loading. */
  current: number | null | undefined
  previous: number | undefined
}

export function MetricTiles({ view, totals }: { view: AnalyticsView; totals: AnalyticsTotals }) {
  const { clicks, leads, clicksBefore, leadsBefore, funnel, funnelBefore, comparable } = totals
  const toMetricValue = (
    query: object | null,
    current: number | undefined,
    previous: number | undefined,
    error: Error | null,
  ): MetricValue => ({
    current: query && !(error && current === undefined) ? current : null,
    previous: comparable ? previous : undefined,
  })
  const values: Record<AnalyticsMetric, MetricValue> = {
    clicks: toMetricValue(view.clicks, clicks.data?.count, clicksBefore.data?.count, clicks.error),
    visitors: toMetricValue(view.clicks, clicks.data?.visitors, clicksBefore.data?.visitors, clicks.error),
    leads: toMetricValue(view.leads, leads.data?.count, leadsBefore.data?.count, leads.error),
  }
  const rate = toMetricValue(view.stages, undefined, funnelBefore.data?.rate ?? undefined, funnel.error)
  if (funnel.data) rate.current = funnel.data.rate
  return (
    <div className="grid grid-cols-2 sm:grid-cols-4">
      {(Object.keys(METRIC_LABELS) as AnalyticsMetric[]).map((metric) => (
        <Tile
          key={metric}
          label={METRIC_LABELS[metric]}
          value={values[metric]}
          format={(count) => (count >= SHORTEN_FROM ? formatShort(count) : formatNumber(count))}
          stale={(metric === 'leads' ? leads : clicks).isPlaceholderData}
          chosen={view.metric === metric}
          choose={() => view.set({ metric: metric === 'clicks' ? undefined : metric })}
          reason={
            explainUnavailable(view, metric === 'leads' ? 'leads' : 'clicks') || 'Couldn’t load this number'
          }
        />
      ))}
      <Tile
        label="Conversion rate"
        hint={RATE_DEFINITION}
        value={rate}
        format={formatRate}
        stale={funnel.isPlaceholderData}
        reason={
          explainUnavailable(view, 'clicks') ||
          explainUnavailable(view, 'leads') ||
          'No clicks in this period'
        }
      />
    </div>
  )
}

interface TileProps {
  label: string
  /** The definition of the number. */
  hint?: string
  value: MetricValue
  format: (value: number) => string
  chosen?: boolean
  choose?: () => void
  /** The number belongs to the previous filters, while the new one loads. */
  stale?: boolean
  /** Why there is no number. */
  reason: string
}

const CORNERS = 'first:rounded-tl-2xl sm:last:rounded-tr-2xl max-sm:nth-2:rounded-tr-2xl'
const LINES = 'border-line max-sm:odd:border-r sm:not-last:border-r max-sm:nth-[-n+2]:border-b'

function Tile({ label, hint, value, format, chosen, choose, stale, reason }: TileProps) {
  const { current } = value
  const body = (
    <>
      <span
        title={hint}
        className={classNames(
          'block truncate text-sm',
          chosen ? 'font-medium text-accent' : 'text-soft',
          hint && 'w-fit max-w-full cursor-help underline decoration-dotted underline-offset-4',
        )}
      >
        {label}
        {hint && <span className="sr-only">. {hint}</span>}
      </span>
      <span className="mt-1 flex h-7 flex-wrap items-baseline gap-x-2 overflow-hidden sm:h-8">
        {current === undefined ? (
          <Skeleton className="h-6 w-20 self-center" />
        ) : (
          <span
            className={classNames(
              'text-xl font-semibold sm:text-2xl tracking-tight tabular-nums transition-opacity',
              stale && 'opacity-50',
            )}
            title={current === null ? reason : undefined}
          >
            {current === null ? <NoValue reason={reason} /> : format(current)}
          </span>
        )}
        {!stale && <Change {...value} format={format} />}
      </span>
    </>
  )
  const className = classNames('px-4 py-3.5 text-left sm:px-5', CORNERS, LINES)
  if (!choose) return <div className={className}>{body}</div>
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={choose}
      disabled={current === null}
      className={classNames(
        className,
        'hover:bg-hover focus-visible:z-10 disabled:hover:bg-transparent',
        chosen && 'shadow-[inset_0_-2px_0_var(--color-accent)]',
      )}
    >
      {body}
    </button>
  )
}

const NoValue = ({ reason }: { reason: string }) => (
  <>
    <span aria-hidden className="text-soft">
      –
    </span>
    <span className="sr-only">{reason}</span>
  </>
)

function Change({
  current,
  previous,
  format,
}: MetricValue & { format: (value: number) => string }): ReactNode {
  if (current === undefined || current === null || previous === undefined) return null
  const comparison = `${format(previous)} before`
  if (previous === 0) {
    return current === 0 ? null : (
      <span title={comparison} className="text-sm text-soft">
        from 0
      </span>
    )
  }
  const part = (current - previous) / previous
  const Icon = Math.abs(part) < 0.0005 ? Minus : part > 0 ? ArrowUpRight : ArrowDownRight
  return (
    <span
      title={comparison}
      className={classNames(
        'inline-flex items-center gap-0.5 text-sm font-medium tabular-nums',
        part > 0 ? 'text-accent' : part < 0 ? 'text-danger' : 'text-soft',
      )}
    >
      <Icon size={14} aria-hidden />
      <span className="sr-only">{part >= 0 ? 'up' : 'down'} </span>
      {part >= 10 ? `×${formatShort(current / previous)}` : formatPercent(Math.abs(part))}
      <span className="sr-only">, {comparison}</span>
    </span>
  )
}
