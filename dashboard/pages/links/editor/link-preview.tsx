// A preview of what the edited link will do, in the order in which a redirect decides.

import type { ReactNode } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { formatCount, formatCountryName, formatTime } from '../../../ui/format.ts'
import { t } from '../../../ui/text.ts'
import { describeRule } from '../link/describe-rule.ts'
import { LINK_DEVICES } from '../link/link-devices.ts'
import { isUrl, splitUrl, withForwardedQuery, withScheme } from './destination-url.ts'
import { type LinkDraft, toDestinationUrl } from './link-draft.ts'
import { toRule } from './rule-draft.ts'

export function LinkPreview({ draft, link }: { draft: LinkDraft; link: LinkResource | undefined }) {
  const destination = toDestinationUrl(draft)
  if (destination === '') return null
  const isReady = isUrl(destination)
  const devices = LINK_DEVICES.filter(({ name }) => draft[name].trim() !== '')
  const countries = draft.countries.filter(({ code, url }) => code && url.trim())
  const rules = draft.rules.filter(({ to }) => to.trim() !== '')
  const isTargeted = rules.length + devices.length + countries.length > 0
  const locked = draft.password === null ? link?.passwordProtected : draft.password !== ''
  return (
    <section
      aria-label="Preview"
      className="grid gap-2 rounded-xl border border-line bg-sunken px-3 py-2.5 text-sm"
    >
      <Rules draft={draft} locked={locked ?? false} />
      <dl className="grid gap-1.5">
        {rules.map((rule) => (
          <Line
            key={rule.key}
            who={describeRule(toRule(rule).when)}
            url={toVisibleUrl(draft, withScheme(rule.to))}
          />
        ))}
        {devices.map(({ name, label }) => (
          <Line key={name} who={label} url={toVisibleUrl(draft, withScheme(draft[name]))} />
        ))}
        {countries.map(({ key, code, url }) => (
          <Line key={key} who={formatCountryName(code)} url={toVisibleUrl(draft, withScheme(url))} />
        ))}
        <Line
          who={isTargeted ? 'Everyone else' : 'Destination'}
          url={isReady ? toVisibleUrl(draft, destination) : ''}
        />
      </dl>
      {draft.forwardQuery && isReady && (
        <p className="text-soft">
          <code>?ref=ad</code> on the short link leads to{' '}
          <Url url={toVisibleUrl(draft, withForwardedQuery(destination, 'ref=ad'))} />
        </p>
      )}
    </section>
  )
}

/** The conditions that come before the destination: schedule, limits, password. */
function Rules({ draft, locked }: { draft: LinkDraft; locked: boolean }) {
  const { startsAt, expiresAt, clickLimit, leadLimit, expiredUrl } = draft
  const time = (local: string) => formatTime(new Date(local).toISOString())
  const ends = [
    expiresAt && `after ${time(expiresAt)}`,
    clickLimit && `after ${formatCount(Number(clickLimit), 'click')}`,
    leadLimit && `after ${formatCount(Number(leadLimit), 'lead')}`,
  ].filter(Boolean)
  if (!startsAt && ends.length === 0 && !locked) return null
  return (
    <ul className="grid gap-1 border-b border-line pb-2 text-soft">
      {startsAt && <li>Before {time(startsAt)}: “Link not found”</li>}
      {ends.length > 0 && (
        <li className="break-words">
          {capital(ends.join(t(' or ')))}:{' '}
          {expiredUrl.trim() ? <Url url={withScheme(expiredUrl)} /> : '“Link expired”'}
        </li>
      )}
      {locked && <li>Visitors enter the password first</li>}
    </ul>
  )
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function toVisibleUrl(draft: LinkDraft, url: string): string {
  if (!draft.trackConversions) return url
  const { base, query, hash } = splitUrl(url)
  return `${base}?${query ? `${query}&` : ''}tp_cid=…${hash}`
}

const Line = ({ who, url }: { who: ReactNode; url: string }) => (
  <div className="grid gap-x-3 sm:grid-cols-[8.5rem_minmax(0,1fr)]">
    <dt className="text-soft">{who}</dt>
    <dd className="min-w-0">{url ? <Url url={url} /> : <span className="text-soft">…</span>}</dd>
  </div>
)

/** A URL with its query highlighted. */
function Url({ url }: { url: string }) {
  const { base, query, hash } = splitUrl(url)
  return (
    <span className="line-clamp-4 break-all">
      {base}
      {query && <span className="text-accent">?{query}</span>}
      {hash}
    </span>
  )
}
