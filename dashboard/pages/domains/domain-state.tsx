// The state of a domain: whether its links answer, and whether its DNS records still prove it.

import type { DomainResource } from '../../api/domains.ts'
import { Badge } from '../../ui/badge.tsx'

export type DomainState = 'verified' | 'failing' | 'waiting' | 'lost'

/**
 * `failing`: it answers still, but the record that proves it is gone. `lost`: it answered once, because only then it can
 * have links.
 */
export function toDomainState({ verified, dns, links }: DomainResource): DomainState {
  if (!verified) return links > 0 ? 'lost' : 'waiting'
  return dns.some(({ type, ok }) => type === 'TXT' && ok === false) ? 'failing' : 'verified'
}

/** Nothing is left to do: it answers, and no record is known to be missing. */
export const isSetUp = ({ verified, dns }: DomainResource) => verified && dns.every(({ ok }) => ok !== false)

const BADGES = {
  verified: { tone: 'good', label: 'Verified' },
  failing: { tone: 'bad', label: 'Record missing' },
  waiting: { tone: 'warn', label: 'Waiting for DNS' },
  lost: { tone: 'bad', label: 'Lost' },
} as const

export function DomainBadges({ domain }: { domain: DomainResource }) {
  const { tone, label } = BADGES[toDomainState(domain)]
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Badge tone={tone}>{label}</Badge>
      {domain.primary && <Badge>Primary</Badge>}
      {domain.caseSensitive && <Badge>Case-sensitive</Badge>}
    </span>
  )
}
