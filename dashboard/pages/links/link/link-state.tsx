// What is special about a link, in a word: it answers no longer, not yet, or not everybody.

import { Globe, Lock, MonitorSmartphone } from 'lucide-react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { Badge } from '../../../ui/badge.tsx'
import { formatTime } from '../../../ui/format.ts'

type LinkState = { word: string; tone: 'neutral' | 'warn' | 'bad'; why: string }

/** null for a link that simply answers. The order is the one that redirects decide in. */
export function findLinkState(link: LinkResource, now = Date.now()): LinkState | null {
  const { archived, startsAt, expiresAt, clickLimit, clicks, leadLimit, leads } = link
  if (archived) return { word: 'Archived', tone: 'neutral', why: 'Visitors get a page that says not found.' }
  if (startsAt && now < Date.parse(startsAt)) {
    return { word: 'Scheduled', tone: 'warn', why: `Starts ${formatTime(startsAt)}` }
  }
  if (expiresAt && now >= Date.parse(expiresAt)) {
    return { word: 'Expired', tone: 'bad', why: `Ended ${formatTime(expiresAt)}` }
  }
  if (clickLimit !== null && clicks >= clickLimit) {
    return { word: 'Click limit', tone: 'bad', why: 'All clicks of its limit are used up.' }
  }
  if (leadLimit !== null && leads >= leadLimit) {
    return { word: 'Lead limit', tone: 'bad', why: 'All leads of its limit have come.' }
  }
  return null
}

export function LinkBadges({ link }: { link: LinkResource }) {
  const state = findLinkState(link)
  const countries = Object.keys(link.geoTargeting).length
  const devices = Object.keys(link.deviceTargeting).length
  return (
    <span className="flex shrink-0 items-center gap-1.5 text-soft">
      {state && (
        <span title={state.why}>
          <Badge tone={state.tone}>{state.word}</Badge>
        </span>
      )}
      {link.passwordProtected && <IconBadge icon={Lock} text="Asks for a password" />}
      {countries > 0 && <IconBadge icon={Globe} text={`Other destinations for countries: ${countries}`} />}
      {devices > 0 && (
        <IconBadge icon={MonitorSmartphone} text={`Other destinations for devices: ${devices}`} />
      )}
    </span>
  )
}

const IconBadge = ({ icon: Icon, text }: { icon: typeof Lock; text: string }) => (
  <span title={text}>
    <Icon size={14} aria-hidden />
    <span className="sr-only">{text}</span>
  </span>
)

/** As people read it: without the scheme and the slash at the end. */
export const toReadableUrl = (url: string) => url.replace(/^https?:\/\/(www\.)?/, '').replace(/\/$/, '')

/** A link's own words where it has some. */
export const toLinkName = (link: LinkResource) => link.title ?? `${link.domain}/${link.slug}`

/** Only what a browser may open: other schemes are shown, not linked. */
export const isWebUrl = (url: string) => /^https?:\/\//.test(url)
