// Limits how often something may happen in a sliding window, or how many bytes may come: in memory on one machine, in
// PostgreSQL when several processes share the limits (docs/adr/0033-counting-together.md).

import { sql } from 'kysely'
import { createBatcher } from '../../../lib/concurrency/batcher.ts'
import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { type BudgetResult, createSlidingBudgets } from '../../../lib/sliding-budget.ts'
import { createSlidingWindows, WINDOW_MS, type WindowResult } from '../../../lib/sliding-window.ts'
import { toFailure } from '../../../storage/database/errors.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'
import { createRoughLimiter } from './rough-limit.ts'
import { type BudgetCall, type ByteBudget, spendSharedBytes } from './shared-budget.ts'
import { countShared, type LimitedCall, refundShared, takeShared } from './shared-limit.ts'

export interface RateLimiter {
  /** Counts one, unless the limit is reached. @param windowMs a minute when absent; always the same for one key */
  take(key: string, limit: number, windowMs?: number): WindowResult | Promise<WindowResult>
  /** The count in the current window of the key. */
  count(key: string, windowMs?: number): number | Promise<number>
  /** Removes the newest one of the key, for limits that count failures only. */
  refund(key: string, windowMs?: number): void | Promise<void>
}

export interface RoughLimiter {
  /**
   * Like `take` for a minute, for high limits. Between processes it costs a thirtieth, and may be off by 30 for each
   * process. No key is used with both.
   */
  takeRoughly(key: string, limit: number): BudgetResult | Promise<BudgetResult>
}

export interface ByteLimiter {
  /** Counts bytes, unless the budget is used up. No key is used with `take` and `spend`. */
  spend(key: string, bytes: number, budget: ByteBudget): BudgetResult | Promise<BudgetResult>
}

/** All keys of a workspace share one limit. */
export const toApiLimitKey = (workspaceId: number) => `api:${workspaceId}`

interface LimiterOptions {
  /** Monotonic milliseconds, for the limits kept in memory. */
  clock?: () => number
  /**
   * The secret of the HMAC that replaces the keys in the database: some keys contain an IP address, which is never
   * stored.
   */
  secret?: string
  /** How many other processes share the limits now. While PostgreSQL is away, each allows its part of a limit. */
  countOthers?: () => number
}

export function createRateLimiter(
  db: Database,
  { clock, secret, countOthers = () => 0 }: LimiterOptions = {},
): RateLimiter & RoughLimiter & ByteLimiter {
  const memory = createMemoryLimiter(clock)
  if (db.engine !== 'postgres') return memory
  const shared = createSharedLimiter(db)
  const takeRoughly = createRoughLimiter(
    async (key, count, limit) => shared.spend(key, count, { bytes: limit, windowMs: WINDOW_MS }),
    clock,
  )
  const hashKey = (key: string) =>
    secret === undefined
      ? key
      : new Bun.CryptoHasher('sha256', secret).update(`towpath rate limit ${key}`).digest('base64url')
  const toPart = (limit: number) => Math.max(1, Math.floor(limit / (1 + countOthers())))
  const run = createSharedOrLocal(async () => shared.count(''))
  return {
    take: (key, limit, windowMs) =>
      run(
        async () => shared.take(hashKey(key), limit, windowMs),
        () => memory.take(key, toPart(limit), windowMs),
      ),
    takeRoughly: (key, limit) =>
      run(
        () => takeRoughly(hashKey(`roughly ${key}`), limit),
        () => memory.takeRoughly(key, toPart(limit)),
      ),
    count: (key, windowMs) =>
      run(
        async () => shared.count(hashKey(key), windowMs),
        () => memory.count(key, windowMs),
      ),
    refund: (key, windowMs) =>
      run(
        async () => shared.refund(hashKey(key)),
        () => memory.refund(key, windowMs),
      ),
    spend: (key, bytes, budget) =>
      run(
        async () => shared.spend(hashKey(key), bytes, budget),
        () => memory.spend(key, bytes, { ...budget, bytes: toPart(budget.bytes) }),
      ),
  }
}

/** Interval of the probes to PostgreSQL while it is away. No request waits for the answer. */
const PROBE_EVERY_MS = 1_000

type SharedOrLocal = <T>(shared: () => Promise<T>, local: () => T | Promise<T>) => Promise<T>

/**
 * Counts in PostgreSQL, and in memory while PostgreSQL is away: a limit must neither refuse all requests with 503 nor
 * allow all of them.
 * @param probe throws while the shared limits cannot be used
 */
function createSharedOrLocal(probe: () => Promise<unknown>, clock = () => performance.now()): SharedOrLocal {
  let isAway = false
  let probedAt = 0

  async function probeAgain() {
    probedAt = clock()
    try {
      await probe()
    } catch {
      // The log says already that the limits are in memory, and why.
      return
    }
    isAway = false
    log.info('limits_shared_again')
  }

  return async (shared, local) => {
    if (isAway) {
      if (clock() - probedAt >= PROBE_EVERY_MS) void probeAgain()
      return local()
    }
    try {
      return await shared()
    } catch (error) {
      const failure = toFailure(error)
      if (!(failure instanceof Failure && failure.code === 'unavailable')) throw error
      if (!isAway) log.warn('limits_in_memory', describeError(failure.detail.cause))
      isAway = true
      probedAt = clock()
      return local()
    }
  }
}

function createMemoryLimiter(clock?: () => number): RateLimiter & RoughLimiter & ByteLimiter {
  const byWindow = new Map<number, ReturnType<typeof createSlidingWindows>>()
  const budgetsByWindow = new Map<number, ReturnType<typeof createSlidingBudgets>>()
  const budgets = (windowMs: number) => {
    const known = budgetsByWindow.get(windowMs) ?? createSlidingBudgets({ windowMs, clock })
    budgetsByWindow.set(windowMs, known)
    return known
  }
  const windows = (windowMs = WINDOW_MS) => {
    const limits = byWindow.get(windowMs) ?? createSlidingWindows({ windowMs, clock })
    byWindow.set(windowMs, limits)
    return limits
  }
  return {
    take: (key, limit, windowMs) => windows(windowMs).take(key, limit),
    takeRoughly: (key, limit) => windows().take(key, limit),
    count: (key, windowMs) => windows(windowMs).count(key),
    refund: (key, windowMs) => windows(windowMs).refund(key),
    spend: (key, bytes, budget) => budgets(budget.windowMs).spend(key, bytes, budget.bytes),
  }
}

/** Calls at the same time share a statement: PostgreSQL takes a third of its time for the limit, the rest for the statement. */
function createSharedLimiter(db: Database): RateLimiter & ByteLimiter {
  const take = createBatcher((calls: LimitedCall[]) => takeShared(db, calls), { max: LIMITS_AT_ONCE })
  const spend = createBatcher((calls: BudgetCall[]) => spendSharedBytes(db, calls), { max: LIMITS_AT_ONCE })
  return {
    take: (key, limit, windowMs) => take({ key, limit, windowMs }),
    count: (key, windowMs) => countShared(db, key, windowMs),
    refund: (key) => refundShared(db, key),
    spend: (key, bytes, budget) => spend({ key, bytes, budget }),
  }
}

/** The statement holds the locks of all its rows until its end. */
const LIMITS_AT_ONCE = 100

/** Deletes windows that have become empty. */
export async function pruneRateWindows(db: Database, now: number): Promise<void> {
  if (db.engine !== 'postgres') return
  await pruneInSlices(db, 'rate_limits', sql`expires_at < ${now}`)
  await pruneInSlices(db, 'rate_windows', sql`expires_at < ${now}`)
}
