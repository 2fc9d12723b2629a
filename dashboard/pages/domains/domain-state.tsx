// The state of a domain: whether its links answer, and whether its DNS records still prove it.

import type { DomainResource } from '../../api/domains.ts'
import { Badge } from '../../ui/badge.tsx'

export type DomainState = 'verified' | 'failing' | 'waiting' | 'lost'

/**
 * `failing`: it answers still, but its proof is gone. `lost`: it answered once, because only then it can have links.
 */
export function toDomainState({ verified, problem, dns, links }: DomainResource): DomainState {
  if (!verified) return links > 0 ? 'lost' : 'waiting'
  const hasProof = dns.some(({ type, ok }) => type === 'TXT' && ok === true)
  return problem !== null && !hasProof ? 'failing' : 'verified'
}

/** The domain works: it answers, and the last check found no problem. */
export const isSetUp = ({ verified, problem }: DomainResource) => verified && problem === null

const BADGES = {
  verified: { tone: 'good', label: 'Verified' },
  failing: { tone: 'bad', label: 'Failing' },
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
