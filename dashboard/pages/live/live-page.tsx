// The live page: what happens now, and the last 30 minutes.

import type { ReactNode } from 'react'
import { locale } from '../../api/language.ts'
import type { LiveFigures } from '../../api/live.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Bar } from '../../ui/charts/bar.tsx'
import { CountryFlag } from '../../ui/country-flag.tsx'
import { formatCountryName, formatNumber } from '../../ui/format.ts'
import { BrandIcon, DeviceIcon } from '../../ui/icons/value-icon.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Page } from '../../ui/page.tsx'
import { Skeleton, SkeletonRows } from '../../ui/skeleton.tsx'
import { type FeedItem, useLive } from './use-live.ts'

// Its outlines weigh 12 KB.
const WorldMap = lazyPart(
  () => import('../analytics/map/country-map.tsx'),
  'WorldMap',
  <div className="aspect-[1000/436] w-full" />,
)

export function LivePage() {
  const { figures, feed, isConnected } = useLive()
  return (
    <Page
      title="Live"
      description="Clicks of people and submissions of the last 30 minutes, as they come."
      breadcrumb={[{ label: 'Analytics', to: '/$workspaceId/analytics' }]}
      actions={
        <p role="status" className="flex items-center gap-2 text-sm text-soft">
          <span aria-hidden className={`size-2 rounded-full ${isConnected ? 'bg-accent' : 'bg-soft'}`} />
          {isConnected ? 'Connected' : 'Connecting'}
        </p>
      }
    >
      {figures ? <Figures figures={figures} /> : <Skeleton className="h-64" />}
      <section className="mt-4 rounded-2xl border border-line bg-card p-4 sm:p-5" aria-label="Feed">
        <h2 className="mb-2 font-semibold">Feed</h2>
        {!figures ? (
          <SkeletonRows rows={3} className="h-12" />
        ) : feed.length === 0 ? (
          <p className="py-4 text-soft">Nothing has happened in the last 30 minutes.</p>
        ) : (
          <ol className="grid grid-cols-1">
            {feed.map((item) => (
              <Item key={item.key} item={item} />
            ))}
          </ol>
        )}
      </section>
    </Page>
  )
}

function Figures({ figures }: { figures: LiveFigures }) {
  const tiles = [
    ['Clicks', figures.clicks],
    ['Visitors', figures.visitors],
    ['Submissions', figures.submissions],
  ] as const
  const most = Math.max(1, ...figures.minutes.map(({ clicks }) => clicks))
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <section
        className="rounded-2xl border border-line bg-card p-4 sm:p-5 lg:col-span-2"
        aria-label="Last 30 minutes"
      >
        <dl className="mb-4 grid grid-cols-3 gap-3">
          {tiles.map(([label, count]) => (
            <div key={label}>
              <dt className="text-sm text-soft">{label}</dt>
              <dd className="text-2xl font-semibold tabular-nums">{formatNumber(count)}</dd>
            </div>
          ))}
        </dl>
        <div
          className="flex h-28 items-end gap-0.5"
          role="img"
          aria-label="Clicks of each of the last 30 minutes"
        >
          {figures.minutes.map(({ time, clicks }) => (
            <span
              key={time}
              title={`${toClock(time)}: ${formatNumber(clicks)}`}
              className="min-h-px flex-1 rounded-t-sm bg-accent"
              style={{ height: `${(clicks / most) * 100}%` }}
            />
          ))}
        </div>
        <p className="mt-1 flex justify-between text-xs text-soft">
          <span>30 minutes ago</span>
          <span>Now</span>
        </p>
      </section>
      <TopCard
        title="Countries"
        above={
          <WorldMap
            amounts={new Map(figures.countries.map(({ country, clicks }) => [country, clicks]))}
            metricLabel="Clicks"
          />
        }
        rows={figures.countries.slice(0, 10).map(({ country, clicks }) => ({
          key: country,
          label: country === 'Unknown' ? 'Unknown' : formatCountryName(country),
          flag: country,
          clicks,
        }))}
      />
      <TopCard
        title="Links"
        rows={figures.links.map(({ link, slug, domain, clicks }) => ({
          key: String(link),
          label: slug === null ? `Link ${link}` : `${domain}/${slug}`,
          clicks,
        }))}
      />
    </div>
  )
}

interface TopRow {
  key: string
  label: string
  flag?: string
  clicks: number
}

function TopCard({ title, above, rows }: { title: string; above?: ReactNode; rows: TopRow[] }) {
  const most = Math.max(1, ...rows.map(({ clicks }) => clicks))
  return (
    <section className="min-w-0 rounded-2xl border border-line bg-card p-4 sm:p-5" aria-label={title}>
      <h2 className="mb-2 font-semibold">{title}</h2>
      {above}
      {rows.length === 0 && <p className="text-soft">Nothing yet</p>}
      <ul>
        {rows.map(({ key, label, flag, clicks }) => (
          <li key={key} className="relative flex items-center gap-2 px-2 py-1.5">
            <Bar part={clicks / most} />
            {flag && (
              <span className="relative">
                <CountryFlag code={flag} />
              </span>
            )}
            <span className="relative min-w-0 flex-1 truncate">{label}</span>
            <span className="relative tabular-nums">{formatNumber(clicks)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
const toClock = (time: string) => clock.format(new Date(time))

function Item({ item }: { item: FeedItem }) {
  const { workspaceId } = useApi()
  const link = item.slug === null ? null : `${item.domain}/${item.slug}`
  const title = item.kind === 'click' ? (link ?? `Link ${item.linkId}`) : item.formName
  const details =
    item.kind === 'click'
      ? [item.city, item.device, item.browser, item.referrer ?? 'Direct', item.trigger === 'qr' && 'QR code']
      : ['Submission', link]
  return (
    <li className="flex items-center gap-3 border-b border-line py-2 last:border-0">
      <time dateTime={item.time} className="w-24 shrink-0 text-sm text-soft tabular-nums">
        {toClock(item.time)}
      </time>
      <CountryFlag code={item.country ?? ''} />
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{title}</p>
        <p className="truncate text-sm text-soft">{details.filter(Boolean).join(' · ')}</p>
      </div>
      {item.kind === 'click' && (
        <span className="flex shrink-0 gap-2 max-sm:hidden">
          {item.device && <DeviceIcon name={item.device} />}
          {item.browser && <BrandIcon name={item.browser} />}
        </span>
      )}
      {item.kind === 'submission' && (
        <ButtonLink
          size="small"
          to="/$workspaceId/inbox"
          params={{ workspaceId: String(workspaceId) }}
          search={{ open: String(item.id) }}
        >
          Open
        </ButtonLink>
      )}
    </li>
  )
}
