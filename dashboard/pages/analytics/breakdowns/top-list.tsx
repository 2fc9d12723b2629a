// A top list as bars. A click on a row sets or removes a filter for it.

import { Link } from '@tanstack/react-router'
import { ArrowUpRight, EyeOff, ListTree } from 'lucide-react'
import type { Subject } from '../../../api/analytics.ts'
import { useWorkspace } from '../../../shell/use-workspace.ts'
import { Bar } from '../../../ui/charts/bar.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CountryFlag } from '../../../ui/country-flag.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatNumber, formatPercent, toReadableUrl } from '../../../ui/format.ts'
import { BrandIcon, DeviceIcon } from '../../../ui/icons/value-icon.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { inSentence } from '../../../ui/text.ts'
import { writeFilter } from '../view/dimension-filter.ts'
import { type Dimension, getDimensionInfo, SOURCE_DIMENSIONS } from '../view/dimensions.ts'
import { type AnalyticsView, explainUnavailable } from '../view/use-analytics-view.ts'
import { type TopRow, useTopList } from './use-top-list.ts'

const ROWS = 8
/** Minimum height: ROWS rows and the header, so that a shorter list does not move the page. */
const HEIGHT = 'min-h-79'

interface Props {
  view: AnalyticsView
  dimension: Dimension
  subject: Subject
  /** The name of the metric, such as `Clicks`. */
  metricLabel: string
  /** The list is on the screen or near it. */
  inView?: boolean
}

export function TopList(props: Props) {
  const { view, dimension, subject, metricLabel, inView } = props
  const { rows, error, refetch, isPlaceholderData } = useTopList(view, dimension, subject, {
    enabled: inView,
  })
  const { label, plural } = getDimensionInfo(dimension)
  if (view[subject] === null) {
    return <Note>{explainUnavailable(view, subject)}</Note>
  }
  if (error && !rows) {
    return (
      <div className={HEIGHT}>
        <ErrorState error={error} retry={refetch} />
      </div>
    )
  }
  if (!rows) return <Loading />
  if (rows.length === 0) return <Note>{describeEmpty(dimension, subject)}</Note>
  return (
    <div className={classNames(HEIGHT, 'transition-opacity', isPlaceholderData && 'opacity-90')}>
      <div className="mb-1 flex h-6 items-center justify-between px-2.5 text-xs text-soft">
        <span>{label}</span>
        <span>{metricLabel}</span>
      </div>
      <TopListRows
        {...props}
        rows={rows.slice(0, ROWS)}
        highest={Math.max(...rows.map(({ amount }) => amount))}
        all={rows}
      />
      <span className="sr-only">{rows.length > ROWS && `and more ${inSentence(plural)}`}</span>
    </div>
  )
}

export function TopListRows({
  view,
  dimension,
  metricLabel,
  rows,
  all,
  highest,
}: Props & { rows: TopRow[]; all: TopRow[]; highest: number }) {
  const filter = view.findFilter(dimension)
  const sum = all.reduce((sum, { amount }) => sum + amount, 0)
  return (
    <ul aria-label={`${getDimensionInfo(dimension).plural} by ${inSentence(metricLabel)}`}>
      {rows.map((row) => (
        <li key={row.value} className="group relative flex h-9 items-center rounded-lg">
          <Bar part={highest > 0 ? row.amount / highest : 0} />
          <FilterButton
            view={view}
            dimension={dimension}
            row={row}
            pressed={filter !== undefined && !filter.negate && filter.values.includes(row.value)}
          />
          <RowActions view={view} dimension={dimension} row={row} />
          <span aria-hidden className="relative flex shrink-0 items-baseline gap-2 pr-2.5 pl-1 text-sm">
            <span className="w-9 text-right text-xs text-soft tabular-nums sm:w-11">
              {sum > 0 && formatPercent(row.amount / sum)}
            </span>
            <span className="min-w-8 text-right font-medium tabular-nums">{formatNumber(row.amount)}</span>
          </span>
        </li>
      ))}
    </ul>
  )
}

interface RowProps {
  view: AnalyticsView
  dimension: Dimension
  row: TopRow
}

function FilterButton({ view, dimension, row, pressed }: RowProps & { pressed: boolean }) {
  return (
    <button
      type="button"
      aria-pressed={pressed}
      title={row.detail ? `${row.name ?? row.label} → ${row.detail}` : row.label}
      onClick={() => view.toggle(dimension, row.value)}
      onKeyDown={(event) => {
        if (event.key === '-' || event.key === 'Delete') view.toggle(dimension, row.value, true)
      }}
      className="relative flex h-full min-w-0 flex-1 items-center gap-2 rounded-lg px-2.5 text-left text-sm -outline-offset-2 aria-pressed:font-semibold"
    >
      <DimensionIcon dimension={dimension} value={row.value} />
      <span className="max-w-full shrink-0 truncate group-hover:underline">{row.label}</span>
      {row.deleted && <span className="shrink-0 text-xs text-soft">deleted</span>}
      {row.detail && (
        <span className="min-w-0 truncate text-soft max-sm:hidden">{toReadableUrl(row.detail)}</span>
      )}
      <span className="sr-only">, {formatNumber(row.amount)}</span>
    </button>
  )
}

function DimensionIcon({ dimension, value }: { dimension: Dimension; value: string }) {
  if (dimension === 'country') return <CountryFlag code={value} />
  if (dimension === 'device') return <DeviceIcon name={value} />
  if (dimension === 'browser' || dimension === 'os' || dimension === 'source')
    return <BrandIcon name={value} />
  return null
}

/** Visible while the row has the pointer or the focus. Phones have the filter chips instead. */
const SHOWN_ON_HOVER = 'hidden sm:group-focus-within:grid sm:group-hover:grid'
const SMALL = `${SHOWN_ON_HOVER} relative size-7 shrink-0 place-items-center rounded-md text-soft hover:bg-card hover:text-ink`

function RowActions({ view, dimension, row }: RowProps) {
  const { id } = useWorkspace()
  const hasPage = dimension === 'linkId' && !row.deleted && row.value !== '0'
  return (
    <>
      {dimension === 'source' && row.value !== '(direct)' && <ShowHostsButton view={view} row={row} />}
      {hasPage && (
        <Link
          to="/$workspaceId/links/$linkId"
          params={{ workspaceId: String(id), linkId: row.value }}
          search={{}}
          title="Open link details"
          aria-label={`Open details of ${row.label}`}
          className={SMALL}
        >
          <ArrowUpRight size={14} aria-hidden />
        </Link>
      )}
      <button
        type="button"
        title={`Exclude ${row.label}`}
        aria-label={`Exclude ${row.label}`}
        onClick={() => view.toggle(dimension, row.value, true)}
        className={SMALL}
      >
        <EyeOff size={14} aria-hidden />
      </button>
    </>
  )
}

/** Filters by a source and shows its referrer hosts. */
function ShowHostsButton({ view, row }: { view: AnalyticsView; row: TopRow }) {
  const showHosts = () => {
    const tabs = [...view.tabs.filter((tab) => !SOURCE_DIMENSIONS.includes(tab as Dimension)), 'referrer']
    view.set({ source: writeFilter({ values: [row.value], negate: false }), tabs: tabs.join(',') })
  }
  return (
    <button
      type="button"
      title="Show its hosts"
      aria-label={`Show the hosts of ${row.label}`}
      onClick={showHosts}
      className={SMALL}
    >
      <ListTree size={14} aria-hidden />
    </button>
  )
}

const Note = ({ children }: { children: React.ReactNode }) => (
  <p className={classNames(HEIGHT, 'grid place-items-center px-6 text-center text-sm text-soft')}>
    {children}
  </p>
)

const Loading = () => (
  <div role="status" aria-label="Loading" className={classNames(HEIGHT, 'grid content-start gap-1.5 pt-7')}>
    {Array.from({ length: ROWS }, (_, row) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: all rows are the same
      <Skeleton key={row} className="h-7.5" />
    ))}
  </div>
)

function describeEmpty(dimension: Dimension, subject: Subject): string {
  const { plural } = getDimensionInfo(dimension)
  if (dimension === 'tagId') return `No ${subject} from tagged links in this period.`
  if (dimension.startsWith('utm'))
    return `No ${inSentence(plural)} in this period. Add UTM parameters to your links to see them here.`
  return `No ${subject} in this period.`
}
