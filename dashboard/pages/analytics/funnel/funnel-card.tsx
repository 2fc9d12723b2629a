// The conversion funnel from clicks to visits to leads, and on to won leads and their value: totals, and a table by link,
// tag, campaign, source, channel, referrer or country.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type FunnelBy, type FunnelTotals, funnelQuery, totalQuery } from '../../../api/analytics.ts'
import type { QueryParameters } from '../../../api/client.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { classNames } from '../../../ui/class-names.ts'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatMoney, formatNumber } from '../../../ui/format.ts'
import { Select } from '../../../ui/forms/field.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { useInView } from '../../../ui/use-in-view.ts'
import { formatRate, RATE_DEFINITION } from '../view/dimensions.ts'
import { ModelSelect } from '../view/model-select.tsx'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { FunnelTable } from './funnel-table.tsx'

const GROUPING_LABELS: Record<FunnelBy, string> = {
  link: 'By link',
  tag: 'By tag',
  campaign: 'By campaign',
  source: 'By source',
  channel: 'By channel',
  referrer: 'By referrer',
  country: 'By country',
}

/** The filter for leads that no link brought. */
const NO_LINK = '0'

const SMALL = 'h-8! w-auto! border-line! text-sm'

export function FunnelCard({ view }: { view: AnalyticsView }) {
  const isOneLink = 'linkId' in view.fixed
  const { ref, inView } = useInView<HTMLElement>()
  const [currency, setCurrency] = useState<string>()
  const query = { ...view.stages, currency }
  const totals = useFunnelTotals(view, query, inView)
  const by = isOneLink && ['link', 'tag'].includes(view.funnel) ? 'campaign' : view.funnel
  const offered = (Object.keys(GROUPING_LABELS) as FunnelBy[]).filter(
    (each) => !isOneLink || !['link', 'tag'].includes(each),
  )
  return (
    <section ref={ref} className="rounded-2xl border border-line bg-card">
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2.5 sm:px-5">
        <h2 className="flex-1 basis-32 font-semibold">Conversion funnel</h2>
        <ModelSelect view={view} className={SMALL} />
        <CurrencySelect totals={totals.data} onChange={setCurrency} />
        <Select
          aria-label="Group by"
          className={SMALL}
          value={by}
          onChange={(event) =>
            view.set({ funnel: event.target.value === 'link' ? undefined : event.target.value })
          }
          options={offered.map((each) => [each, GROUPING_LABELS[each]])}
        />
      </header>
      {view.stages === null ? (
        <p className="px-4 py-10 text-center text-sm text-soft sm:px-5">
          One of the filters applies only to clicks or only to leads. Remove it to see the funnel.
        </p>
      ) : (
        <>
          <Stages {...{ view, totals, inView }} />
          <FunnelTable key={by} {...{ view, by, inView, query }} currency={totals.data?.currency} />
        </>
      )}
    </section>
  )
}

function useFunnelTotals(view: AnalyticsView, query: QueryParameters, inView: boolean) {
  const api = useApi()
  return useQuery({
    ...funnelQuery(api, query),
    enabled: inView && view.stages !== null,
    placeholderData: keepPreviousData,
  })
}

interface CurrencyProps {
  totals: FunnelTotals | undefined
  onChange: (currency: string) => void
}

/** Values of different currencies are never added up: one is shown at a time. */
function CurrencySelect({ totals, onChange }: CurrencyProps) {
  const { currency, otherCurrencies = [] } = totals ?? {}
  if (currency === undefined || otherCurrencies.length === 0) return null
  return (
    <Select
      aria-label="Currency"
      className={SMALL}
      value={currency}
      onChange={(event) => onChange(event.target.value)}
    >
      {[currency, ...otherCurrencies].toSorted().map((code) => (
        <option key={code} value={code}>
          {code}
        </option>
      ))}
    </Select>
  )
}

interface StagesProps {
  view: AnalyticsView
  totals: ReturnType<typeof useFunnelTotals>
  inView: boolean
}

function Stages({ view, totals, inView }: StagesProps) {
  const { data, error, refetch, isPlaceholderData } = totals
  if (error && !data) {
    return (
      <div className="p-4 sm:p-5">
        <ErrorState error={error} retry={refetch} />
      </div>
    )
  }
  const hasOutcomes =
    data !== undefined && (data.qualified > 0 || data.won > 0 || data.currency !== undefined)
  return (
    <ol
      className={classNames(
        'grid gap-3 p-4 transition-opacity sm:grid-cols-3 sm:gap-4 sm:p-5',
        hasOutcomes && 'xl:grid-cols-5',
        isPlaceholderData && 'opacity-90',
      )}
    >
      {STAGES.filter(({ key }) => hasOutcomes || !isOutcome(key)).map(({ key, name, detail }) => (
        <Stage key={key} {...{ name, detail, data }} stage={key}>
          {key === 'leads' && <LeadShares view={view} inView={inView} rate={data?.rate ?? null} />}
          {isOutcome(key) && data && data.leads > 0 && (
            <span className="truncate text-sm text-soft">{formatRate(data[key] / data.leads)} of leads</span>
          )}
        </Stage>
      ))}
    </ol>
  )
}

const STAGES = [
  { key: 'clicks', name: 'Clicks', detail: 'on short links, without bots' },
  { key: 'visits', name: 'Visits', detail: 'to pages with the snippet' },
  { key: 'leads', name: 'Leads', detail: 'submissions without spam' },
  { key: 'qualified', name: 'Qualified', detail: 'in this period' },
  { key: 'won', name: 'Won', detail: 'in this period' },
] as const
type StageKey = (typeof STAGES)[number]['key']
const isOutcome = (key: StageKey) => key === 'qualified' || key === 'won'

interface StageProps {
  name: string
  detail: string
  /** `key` belongs to React. */
  stage: StageKey
  data: FunnelTotals | undefined
  children: ReactNode
}

function Stage({ name, detail, stage, data, children }: StageProps) {
  const value = data?.[stage]
  // Visits and leads can exceed clicks, because visitors also come without a link. The bars relate to the largest
  // number.
  const highest = data ? Math.max(data.clicks, data.visits, data.leads, 1) : 1
  const money =
    stage === 'won' && data?.currency && data.value ? formatMoney(data.value, data.currency) : null
  return (
    <li className="min-w-0">
      <p className="flex items-baseline gap-2">
        <span className="font-medium">{name}</span>
        {money ? (
          <span className="truncate text-sm font-medium tabular-nums">{money}</span>
        ) : (
          <span className="truncate text-sm text-soft">{detail}</span>
        )}
      </p>
      <div className="mt-2 h-3 overflow-hidden rounded-full bg-sunken">
        <div
          className="h-full rounded-full bg-accent transition-[width] duration-300"
          style={{ width: `${((value ?? 0) / highest) * 100}%` }}
        />
      </div>
      <p className="mt-1.5 flex h-8 items-baseline gap-2">
        {value === undefined ? (
          <Skeleton className="h-6 w-16" />
        ) : (
          <span className="text-xl font-semibold tabular-nums">{formatNumber(value)}</span>
        )}
        {children}
      </p>
    </li>
  )
}

/** The conversion rate, and apart from it the leads that no link brought. */
function LeadShares({ view, inView, rate }: { view: AnalyticsView; inView: boolean; rate: number | null }) {
  const api = useApi()
  const isAboutLinks = 'linkId' in (view.stages ?? {})
  const { data: withoutLink } = useQuery({
    ...totalQuery(api, 'leads', { ...view.stages, linkId: NO_LINK }),
    enabled: inView && view.stages !== null && !isAboutLinks,
    placeholderData: keepPreviousData,
  })
  return (
    <span className="truncate text-sm text-soft">
      {rate !== null && <span title={RATE_DEFINITION}>{formatRate(rate)} of clicks</span>}
      {rate !== null && !!withoutLink?.count && ' · '}
      {!!withoutLink?.count && `${formatNumber(withoutLink.count)} without a link`}
    </span>
  )
}
