// The badges of a link: its status where it does not redirect normally, password, rules, split test and targeting.

import { Globe, Lock, MonitorSmartphone, Split } from 'lucide-react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { Badge } from '../../../ui/badge.tsx'
import { formatCount, formatTime } from '../../../ui/format.ts'
import { t } from '../../../ui/text.ts'

type LinkState = { label: string; tone: 'neutral' | 'warn' | 'bad'; reason: string }

/**
 * null for a link that redirects normally. The conditions are in the order of
 * server/features/redirect/destination.ts.
 */
export function findLinkState(link: LinkResource, now = Date.now()): LinkState | null {
  const { archived, startsAt, expiresAt, clickLimit, clicks, leadLimit, leads } = link
  if (link.suspended) return { label: 'Suspended', tone: 'bad', reason: 'By the operator of this server.' }
  if (archived) return { label: 'Archived', tone: 'neutral', reason: 'Visitors see “Link not found”.' }
  if (startsAt && now < Date.parse(startsAt)) {
    return { label: 'Scheduled', tone: 'warn', reason: `Starts ${formatTime(startsAt)}` }
  }
  if (expiresAt && now >= Date.parse(expiresAt)) {
    return { label: 'Expired', tone: 'bad', reason: `Since ${formatTime(expiresAt)}` }
  }
  if (clickLimit !== null && clicks >= clickLimit) {
    return { label: 'Click limit', tone: 'bad', reason: `Limit reached: ${formatCount(clickLimit, 'click')}` }
  }
  if (leadLimit !== null && leads >= leadLimit) {
    return { label: 'Lead limit', tone: 'bad', reason: `Limit reached: ${formatCount(leadLimit, 'lead')}` }
  }
  return null
}

export function LinkBadges({ link }: { link: LinkResource }) {
  const state = findLinkState(link)
  const countries = Object.keys(link.geoTargeting).length
  const devices = Object.keys(link.deviceTargeting).length
  const rules = link.rules.length
  const splits = [rules > 0 && formatCount(rules, 'rule'), link.split && 'a split test'].filter(Boolean)
  return (
    <span className="flex shrink-0 items-center gap-1.5 text-soft">
      {state && (
        <span title={state.reason}>
          <Badge tone={state.tone}>{state.label}</Badge>
        </span>
      )}
      {link.passwordProtected && <IconBadge icon={Lock} text="Password protected" />}
      {splits.length > 0 && <IconBadge icon={Split} text={`Has ${splits.join(t(' and '))}`} />}
      {countries > 0 && (
        <IconBadge icon={Globe} text={`Targets ${formatCount(countries, 'country', 'countries')}`} />
      )}
      {devices > 0 && (
        <IconBadge icon={MonitorSmartphone} text={`Targets ${formatCount(devices, 'device')}`} />
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
