// The conversion funnel from clicks to visits to leads: totals, and a table by link, tag, campaign, source,
// channel, referrer or country.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type FunnelBy, type FunnelStages, funnelQuery, totalQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { classNames } from '../../../ui/class-names.ts'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatNumber } from '../../../ui/format.ts'
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
  const by = isOneLink && ['link', 'tag'].includes(view.funnel) ? 'campaign' : view.funnel
  const offered = (Object.keys(GROUPING_LABELS) as FunnelBy[]).filter(
    (each) => !isOneLink || !['link', 'tag'].includes(each),
  )
  return (
    <section ref={ref} className="rounded-2xl border border-line bg-card">
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2.5 sm:px-5">
        <h2 className="flex-1 basis-32 font-semibold">Conversion funnel</h2>
        <ModelSelect view={view} className={SMALL} />
        <Select
          aria-label="Group by"
          className={SMALL}
          value={by}
          onChange={(event) =>
            view.set({ funnel: event.target.value === 'link' ? undefined : event.target.value })
          }
        >
          {offered.map((each) => (
            <option key={each} value={each}>
              {GROUPING_LABELS[each]}
            </option>
          ))}
        </Select>
      </header>
      {view.stages === null ? (
        <p className="px-4 py-10 text-center text-sm text-soft sm:px-5">
          One of the filters applies only to clicks or only to leads. Remove it to see the funnel.
        </p>
      ) : (
        <>
          <Stages view={view} inView={inView} />
          <FunnelTable key={by} view={view} by={by} inView={inView} />
        </>
      )}
    </section>
  )
}

function Stages({ view, inView }: { view: AnalyticsView; inView: boolean }) {
  const api = useApi()
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...funnelQuery(api, view.stages ?? {}),
    enabled: inView && view.stages !== null,
    placeholderData: keepPreviousData,
  })
  if (error && !data) {
    return (
      <div className="p-4 sm:p-5">
        <ErrorState error={error} retry={refetch} />
      </div>
    )
  }
  return (
    <ol
      className={classNames(
        'grid gap-3 p-4 transition-opacity sm:grid-cols-3 sm:gap-4 sm:p-5',
        isPlaceholderData && 'opacity-90',
      )}
    >
      {STAGES.map(({ name, key, detail }) => (
        <Stage key={key} name={name} detail={detail} stage={key} data={data}>
          {key === 'leads' && <LeadShares view={view} inView={inView} rate={data?.rate ?? null} />}
        </Stage>
      ))}
    </ol>
  )
}

const STAGES = [
  { key: 'clicks', name: 'Clicks', detail: 'on short links, without bots' },
  { key: 'visits', name: 'Visits', detail: 'to pages with the snippet' },
  { key: 'leads', name: 'Leads', detail: 'submissions without spam' },
] as const

function Stage({
  name,
  detail,
  stage,
  data,
  children,
}: {
  name: string
  detail: string
  stage: 'clicks' | 'visits' | 'leads'
  data: FunnelStages | undefined
  children: ReactNode
}) {
  const value = data?.[stage]
  // Visits and leads can exceed clicks, because visitors also come without a link. The bars relate to the largest
  // number.
  const highest = data ? Math.max(data.clicks, data.visits, data.leads, 1) : 1
  return (
    <li className="min-w-0">
      <p className="flex items-baseline gap-2">
        <span className="font-medium">{name}</span>
        <span className="truncate text-sm text-soft">{detail}</span>
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
