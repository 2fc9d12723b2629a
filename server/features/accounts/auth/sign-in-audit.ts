// Events about a person's account, in the audit log of each workspace of the person: sign-ins, failed ones, sessions and
// passwords. A stranger can cause failures without end, so their number in an hour is recorded at 1, 10, 100 and 1,000.

import { describeError, log } from '../../../lib/log.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'
import type { SessionNeeds } from '../access/session.ts'
import { type AuditEntry, recordAccountAudit } from '../audit/record-audit.ts'

interface Needs extends SessionNeeds {
  limiter: RateLimiter
}

const HOUR_MS = 60 * 60 * 1000
const COUNT_MAX = 1000
const RECORDED_FAILURES = new Set([1, 10, 100, COUNT_MAX])
/** Sign-ins are recorded one by one up to this number in an hour; a program may sign in far more often. */
const SINGLE_SIGN_INS = 20

export type SignInMethod = 'password' | 'provider' | 'passkey' | 'second factor'

/** @param method the last proof of who the person is */
export async function recordSignIn(needs: Needs, userId: number, method: SignInMethod): Promise<void> {
  try {
    const count = await countInHour(needs, `sign-ins of ${userId}`)
    if (count === undefined || (count > SINGLE_SIGN_INS && !RECORDED_FAILURES.has(count))) return
    const detail = { method, ...(count > SINGLE_SIGN_INS && { count }) }
    await recordAccountEvent(needs, userId, { action: 'sign_in', detail })
  } catch (error) {
    // The session is stored already: the person is signed in.
    log.warn('sign_in_not_recorded', describeError(error))
  }
}

/** The answer does not wait for this: its duration would tell whether the address has an account. */
export function recordFailedSignIn(needs: Needs, email: string): void {
  const record = async () => {
    const user = await needs.db.read
      .selectFrom('users')
      .select('id')
      .where('email', '=', email)
      .executeTakeFirst()
    if (!user) return
    const count = await countInHour(needs, `failed sign-ins of ${user.id}`)
    if (count === undefined || !RECORDED_FAILURES.has(count)) return
    const target = { type: 'member', id: user.id, name: email } as const
    const entry: AuditEntry = { action: 'sign_in_failed', target, detail: { count } }
    await needs.db.write((connection) =>
      recordAccountAudit(connection, user.id, entry, needs.now(), 'unknown'),
    )
  }
  record().catch((error) => log.warn('failed_sign_in_not_recorded', describeError(error)))
}

/** For changes in a transaction of another library. */
export async function recordAccountEvent(
  { db, now }: SessionNeeds,
  userId: number,
  entry: AuditEntry,
): Promise<void> {
  await db.write((connection) => recordAccountAudit(connection, userId, entry, now()))
}

/** @returns which one in this hour of the clock it is; undefined after COUNT_MAX */
async function countInHour({ limiter, now }: Needs, what: string): Promise<number | undefined> {
  const key = `audit ${what} ${Math.floor(now() / HOUR_MS)}`
  const { allowed, remaining } = await limiter.take(key, COUNT_MAX, HOUR_MS)
  return allowed ? COUNT_MAX - remaining : undefined
}
