// Looks at the DNS of each verified domain once a day.

import { describeError, log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { checkDomain } from './check-domain.ts'
import type { DomainRow } from './domain.ts'
import { storeCheck, type VerificationNeeds } from './verify-domain.ts'

/** Of one run. The next one goes on. */
const DOMAINS_MAX = 500
const AT_ONCE = 10

/** Those that have waited longest come first. */
export async function recheckDomains(needs: VerificationNeeds): Promise<void> {
  const due = await needs.db.read
    .selectFrom('domains')
    .selectAll()
    .where('verified_at', 'is not', null)
    .where((e) => e.or([e('checked_at', 'is', null), e('checked_at', '<=', needs.now() - DAY_MS)]))
    .orderBy('checked_at')
    .limit(DOMAINS_MAX)
    .execute()
  const waiting = due.values()
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const row of waiting) await recheck(needs, row)
  })
  await Promise.all(workers)
}

/** One domain that cannot be stored must not keep the others from their look. */
async function recheck(needs: VerificationNeeds, row: DomainRow): Promise<void> {
  try {
    const check = await checkDomain(needs, row)
    await storeCheck(needs, { kind: 'system', workspaceId: row.workspace_id }, row.id, check)
  } catch (error) {
    log.warn('domain_not_rechecked', { domain: row.id, ...describeError(error) })
  }
}
