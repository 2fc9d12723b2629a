// The funnel's table: clicks, visits, leads, conversion rate, qualified and won leads and their value per link, tag, campaign,
// source, channel, referrer or country.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type FunnelBy, type FunnelRow, funnelRowsQuery } from '../../../api/analytics.ts'
import type { QueryParameters } from '../../../api/client.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { classNames } from '../../../ui/class-names.ts'
import { CountryFlag } from '../../../ui/country-flag.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatMoney, formatNumber } from '../../../ui/format.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'
import {
  createNameShortener,
  type Dimension,
  formatDimensionValue,
  formatRate,
  getDimensionInfo,
  RATE_DEFINITION,
} from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

const DIMENSION_BY_GROUPING: Record<FunnelBy, Dimension> = {
  link: 'linkId',
  tag: 'tagId',
  campaign: 'utmCampaign',
  source: 'source',
  channel: 'channel',
  referrer: 'referrer',
  country: 'country',
}

const INITIAL_ROWS = 8
const ROWS_MAX = 200
const CELL = 'px-2 py-0 text-right tabular-nums first:pl-4 last:pr-4 sm:first:pl-5 sm:last:pr-5'

interface Props {
  view: AnalyticsView
  by: FunnelBy
  inView: boolean
  query: QueryParameters
  /** Of the values; undefined where nothing was won with a value. */
  currency: string | undefined
}

export function FunnelTable({ view, by, inView, query, currency }: Props) {
  const api = useApi()
  const [limit, setLimit] = useState(INITIAL_ROWS)
  const dimension = DIMENSION_BY_GROUPING[by]
  const { data, error, refetch, isPlaceholderData } = useQuery({
    // Load one row more than shown, to know whether there are more.
    ...funnelRowsQuery(api, by, query, limit + 1),
    enabled: inView && view.stages !== null,
    placeholderData: keepPreviousData,
  })
  if (error && !data) {
    return (
      <div className="p-4 pt-0 sm:p-5 sm:pt-0">
        <ErrorState error={error} retry={refetch} />
      </div>
    )
  }
  const shorten =
    by === 'link' ? createNameShortener(data?.map(({ name }) => name) ?? []) : (name: string) => name
  // Leads without a link are listed below the links: no rate includes them.
  const rows = (data ?? []).slice(0, limit)
  const ordered = by === 'link' ? rows.toSorted((a, b) => Number(isNoLink(a)) - Number(isNoLink(b))) : rows
  const hasMore = limit === INITIAL_ROWS && (data?.length ?? 0) > INITIAL_ROWS
  return (
    <div className="min-h-93 border-t border-line pb-2">
      <table
        className={classNames(
          'w-full table-fixed text-sm transition-opacity',
          isPlaceholderData && 'opacity-90',
        )}
      >
        <caption className="sr-only">
          Clicks, visits and leads {`by ${getDimensionInfo(dimension).label}`}
        </caption>
        <Head label={getDimensionInfo(dimension).label} hasMoney={currency !== undefined} />
        <tbody>
          {data
            ? ordered.map((row) => <Line key={row.value} {...{ view, dimension, row, shorten, currency }} />)
            : Array.from({ length: INITIAL_ROWS }, (_, row) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: all rows are the same
                <tr key={row} className="h-9">
                  <td colSpan={currency === undefined ? 5 : 8} className="px-4 sm:px-5">
                    <Skeleton className="h-6" />
                  </td>
                </tr>
              ))}
        </tbody>
      </table>
      {data?.length === 0 && (
        <p className="px-5 py-10 text-center text-sm text-soft">No data in this period</p>
      )}
      {hasMore && (
        <button
          type="button"
          className="mx-auto mt-1 block h-8 rounded-lg px-3 text-sm font-medium text-accent hover:bg-hover"
          onClick={() => setLimit(ROWS_MAX)}
        >
          Show more
        </button>
      )}
    </div>
  )
}

const isNoLink = ({ value }: FunnelRow) => value === '0'

const Head = ({ label, hasMoney }: { label: string; hasMoney: boolean }) => (
  <thead>
    <tr className="h-9 text-soft">
      <th scope="col" className={`${CELL} text-left! font-normal`}>
        {label}
      </th>
      <th scope="col" className={`${CELL} w-16 font-normal sm:w-24`}>
        Clicks
      </th>
      <th scope="col" className={`${CELL} w-24 font-normal max-sm:hidden`}>
        Visits
      </th>
      <th scope="col" className={`${CELL} w-16 font-normal sm:w-24`}>
        Leads
      </th>
      <th
        scope="col"
        title={RATE_DEFINITION}
        className={classNames(CELL, 'w-18 cursor-help font-normal sm:w-28', hasMoney && 'max-sm:hidden')}
      >
        Rate<span className="sr-only">. {RATE_DEFINITION}</span>
      </th>
      {hasMoney && (
        <>
          <th scope="col" className={`${CELL} w-24 font-normal max-lg:hidden`}>
            Qualified
          </th>
          <th scope="col" className={`${CELL} w-20 font-normal max-sm:hidden`}>
            Won
          </th>
          <th scope="col" className={`${CELL} w-28 font-normal sm:w-32`}>
            Value
          </th>
        </>
      )}
    </tr>
  </thead>
)

function Line({
  view,
  dimension,
  row,
  shorten,
  currency,
}: {
  view: AnalyticsView
  dimension: Dimension
  row: FunnelRow
  shorten: (name: string) => string
  currency: string | undefined
}) {
  const label = row.name ? shorten(row.name) : formatDimensionValue(dimension, row.value)
  return (
    <tr
      className={classNames(
        'h-9 hover:bg-hover',
        dimension === 'linkId' && isNoLink(row) && 'border-t border-line text-soft',
      )}
    >
      <th scope="row" className={`${CELL} text-left! font-normal`}>
        <button
          type="button"
          title={label}
          onClick={() => view.toggle(dimension, row.value)}
          className="flex max-w-full items-center gap-2 hover:underline"
        >
          {dimension === 'country' && <CountryFlag code={row.value} />}
          <span className="truncate">{label}</span>
        </button>
      </th>
      <td className={CELL}>{formatNumber(row.clicks)}</td>
      <td className={`${CELL} max-sm:hidden`}>{formatNumber(row.visits)}</td>
      <td className={CELL}>{formatNumber(row.leads)}</td>
      <td className={classNames(CELL, currency !== undefined && 'max-sm:hidden')}>
        {row.rate === null ? '–' : formatRate(row.rate)}
      </td>
      {currency !== undefined && (
        <>
          <td className={`${CELL} max-lg:hidden`}>{formatNumber(row.qualified)}</td>
          <td className={`${CELL} max-sm:hidden`}>{formatNumber(row.won)}</td>
          <td className={CELL}>{row.money === null ? '–' : formatMoney(row.money, currency)}</td>
        </>
      )}
    </tr>
  )
}
