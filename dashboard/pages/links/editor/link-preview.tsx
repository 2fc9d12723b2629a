// What the link will do, in the order in which it decides, while it is being written.

import type { ReactNode } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { formatCountryName, formatTime } from '../../../ui/format.ts'
import { isUrl, splitUrl, withForwardedQuery, withScheme } from './destination-url.ts'
import { type LinkDraft, toDestinationUrl } from './link-draft.ts'

const DEVICES = [
  ['ios', 'iPhone and iPad'],
  ['android', 'Android'],
  ['desktop', 'Desktop'],
] as const

export function LinkPreview({ draft, link }: { draft: LinkDraft; link: LinkResource | undefined }) {
  const destination = toDestinationUrl(draft)
  const ready = destination !== '' && isUrl(destination)
  const devices = DEVICES.filter(([name]) => draft[name].trim() !== '')
  const countries = draft.countries.filter(({ code, url }) => code && url.trim())
  const special = devices.length + countries.length > 0
  const locked = draft.password === null ? link?.passwordProtected : draft.password !== ''
  return (
    <section
      aria-label="Preview"
      className="grid gap-2 rounded-xl border border-line bg-sunken px-3 py-2.5 text-sm"
    >
      <Rules draft={draft} locked={locked ?? false} />
      <dl className="grid gap-1.5">
        {devices.map(([name, label]) => (
          <Line key={name} who={label} url={toVisibleUrl(draft, withScheme(draft[name]))} />
        ))}
        {countries.map(({ key, code, url }) => (
          <Line key={key} who={formatCountryName(code)} url={toVisibleUrl(draft, withScheme(url))} />
        ))}
        <Line
          who={special ? 'Everybody else' : 'Visitors go to'}
          url={ready ? toVisibleUrl(draft, destination) : ''}
        />
      </dl>
      {draft.forwardQuery && ready && (
        <p className="text-soft">
          <code>?ref=ad</code> after the short link leads to{' '}
          <Url url={toVisibleUrl(draft, withForwardedQuery(destination, 'ref=ad'))} />
        </p>
      )}
    </section>
  )
}

/** What stands before the destination. */
function Rules({ draft, locked }: { draft: LinkDraft; locked: boolean }) {
  const { startsAt, expiresAt, clickLimit, leadLimit, expiredUrl } = draft
  const time = (local: string) => formatTime(new Date(local).toISOString())
  const ends = [
    expiresAt && `from ${time(expiresAt)}`,
    clickLimit && `after ${clickLimit} clicks`,
    leadLimit && `after ${leadLimit} leads`,
  ].filter(Boolean)
  if (!startsAt && ends.length === 0 && !locked) return null
  return (
    <ul className="grid gap-1 border-b border-line pb-2 text-soft">
      {startsAt && <li>Until {time(startsAt)}: not found</li>}
      {ends.length > 0 && (
        <li className="break-words">
          {capital(ends.join(' or '))}:{' '}
          {expiredUrl.trim() ? <Url url={withScheme(expiredUrl)} /> : 'a page that says it has ended'}
        </li>
      )}
      {locked && <li>First asks for the password</li>}
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

/** The query stands out: it is what changes. */
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
