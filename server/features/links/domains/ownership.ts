// The next state of a domain after a DNS check: verified, failing, lost, or unchanged. A verified domain is lost only
// after a week in which every check contradicted it; a check that got no answer does not count
// (docs/adr/0043-domains.md).

import { DAY_MS } from '../../../lib/utc-day.ts'
import type { DomainCheck } from './check-domain.ts'
import type { DomainRow } from './domain.ts'

/** How long a verified domain may fail its checks. */
export const GRACE_MS = 7 * DAY_MS

/**
 * After a longer pause between checks, the week of failures starts again, because the state in between is unknown.
 */
const GAP_MAX_MS = 2 * DAY_MS

/** The change of a domain's state. Its owners get a mail about the last two. */
export type DomainEvent = 'verified' | 'failing' | 'lost'

type OwnershipColumns = Pick<
  DomainRow,
  'verified_at' | 'checked_at' | 'failing_since' | 'problem' | 'proof_ok' | 'route_ok' | 'is_primary'
>

const toBit = (value: boolean | null) => (value === null ? null : Number(value))
const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** @returns the columns that change */
export function judgeOwnership(
  row: OwnershipColumns,
  check: DomainCheck,
  now: number,
): { columns: Partial<OwnershipColumns>; event?: DomainEvent } {
  const seen = { proof_ok: toBit(check.proof), route_ok: toBit(check.route), checked_at: now }
  if (check.proof) {
    const columns = { ...seen, failing_since: null, problem: check.routeProblem }
    if (row.verified_at !== null) return { columns }
    return { columns: { ...columns, verified_at: now }, event: 'verified' }
  }
  if (row.verified_at === null) return { columns: { ...seen, problem: check.problem } }
  // No server could be asked: keeps the time of the last check, so that the next one is soon.
  if (!check.isEvidence) return { columns: { problem: check.problem } }
  return judgeFailure({ ...row, ...seen }, row.checked_at, check, now)
}

function judgeFailure(
  row: OwnershipColumns,
  lastCheck: number | null,
  { problem }: DomainCheck,
  now: number,
): ReturnType<typeof judgeOwnership> {
  const { proof_ok, route_ok, checked_at } = row
  const seen = { proof_ok, route_ok, checked_at }
  const isContinued = row.failing_since !== null && now - (lastCheck ?? 0) <= GAP_MAX_MS
  const since = isContinued ? (row.failing_since ?? now) : now
  if (now - since >= GRACE_MS) {
    const lost = `The domain was lost on ${toDay(now)}, after 7 days without proof. ${problem}`
    const columns = { ...seen, verified_at: null, failing_since: null, is_primary: 0, problem: lost }
    return { columns, event: 'lost' }
  }
  const warning = `${problem} The domain stops on ${toDay(since + GRACE_MS)} unless the record is back.`
  const columns = { ...seen, failing_since: since, problem: warning }
  return row.failing_since === null ? { columns, event: 'failing' } : { columns }
}
