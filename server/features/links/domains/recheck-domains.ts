// Checks the DNS of each verified domain once a day, and that of new domains more often.

import { describeError, log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { checkDomain } from './check-domain.ts'
import type { DomainRow } from './domain.ts'
import { storeCheck, type VerificationNeeds } from './verify-domain.ts'

/** The maximum number of domains per run. The next run continues. */
const DOMAINS_MAX = 500
const AT_ONCE = 10

/** How long a new domain is checked often. */
const NEW_MS = 7 * DAY_MS
/** DNS providers and resolvers take minutes to hours. */
const NEW_EVERY_MS = 15 * 60_000

/** The domains that have waited longest come first. */
export async function recheckDomains(needs: VerificationNeeds): Promise<void> {
  const waiting = (await listDue(needs.db.read, needs.now())).values()
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const row of waiting) await recheck(needs, row)
  })
  await Promise.all(workers)
}

function listDue(connection: Connection, now: number): Promise<DomainRow[]> {
  return connection
    .selectFrom('domains')
    .selectAll()
    .where((e) => {
      const wasChecked = (agoMs: number) =>
        e.or([e('checked_at', 'is', null), e('checked_at', '<=', now - agoMs)])
      const isTaken = e.exists(
        e
          .selectFrom('domains as others')
          .select('others.id')
          .whereRef('others.domain', '=', 'domains.domain')
          .where('others.verified_at', 'is not', null),
      )
      return e.or([
        e.and([e('verified_at', 'is not', null), wasChecked(DAY_MS)]),
        e.and([
          e('verified_at', 'is', null),
          e('created_at', '>', now - NEW_MS),
          wasChecked(NEW_EVERY_MS),
          e.not(isTaken),
        ]),
      ])
    })
    .orderBy('checked_at')
    .limit(DOMAINS_MAX)
    .execute()
}

/** A domain that cannot be stored must not stop the check of others. */
async function recheck(needs: VerificationNeeds, row: DomainRow): Promise<void> {
  try {
    const check = await checkDomain(needs, row)
    await storeCheck(needs, { kind: 'system', workspaceId: row.workspace_id }, row.id, check)
  } catch (error) {
    log.warn('domain_not_rechecked', { domain: row.id, ...describeError(error) })
  }
}
