// Delivers what is due: at once when it was written down, and again as the ladder says. Any number of processes may do
// so over the same rows.

import { describeError, log } from '../../../lib/log.ts'
import type { DeliveryResult } from '../channels/contract.ts'
import { type AttemptNeeds, attemptDelivery } from './attempt-delivery.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { type Claim, claimDeliveries, LEASE_MS, releaseLeases } from './claim-deliveries.ts'
import { createDeliveryMetrics } from './delivery-metrics.ts'
import { CHANNEL_DISABLED } from './enqueue-deliveries.ts'
import { CONCURRENT_ATTEMPTS, scheduleTurns } from './fair-schedule.ts'
import { logUnrecordedAttempt, recordAttempts, type UnrecordedAttempt } from './record-attempts.ts'

export interface DelivererNeeds extends AttemptNeeds {
  now: () => number
  leaseMs?: number
  /** How often it is looked whether something is due. */
  pollMs?: number
}

/** Something may be due now. @param mended a channel that somebody wants tried at once, though it has failed */
export type WakeDeliverer = (mended?: number) => void

export interface Deliverer {
  wake: WakeDeliverer
  metrics(): ReturnType<ReturnType<typeof createDeliveryMetrics>['metrics']>
  /** Takes nothing more, and resolves when what is in hand is done, or after 20 seconds: the rest is made once more. */
  close(): Promise<void>
}

/** Word to owners at the same time. */
const CONCURRENT_NOTICES = 2
const POLL_MS = 1_000
const GATHER_MS = 8
const METRICS_EVERY_MS = 10_000
// Longer than an honest attempt takes.
const CLOSE_MS = 20_000

/** @throws when what a former process had in hand cannot be taken back */
export async function openDeliverer(needs: DelivererNeeds): Promise<Deliverer> {
  const { db, now, leaseMs = LEASE_MS, pollMs = POLL_MS } = needs
  const flying = new Map<Promise<void>, Claim>()
  let ended: UnrecordedAttempt[] = []
  const breaker = createCircuitBreaker()
  const counts = createDeliveryMetrics()
  let closed = false
  let round = { healthy: 0, failing: 0 }
  /** Ends the wait for others. */
  let gathered = () => {}
  let again = false
  let turning: Promise<void> | undefined
  let timer: Timer | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  let degraded = false
  let fault: string | null = null
  await releaseLeases(db, now())

  /** While many are in hand, their ends are waited for together: to write down one costs as much as ten. */
  async function gather() {
    if (flying.size <= CONCURRENT_ATTEMPTS / 2) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, GATHER_MS)
    gathered = resolve
    await promise
    clearTimeout(timer)
  }

  /** Writes down what has ended and takes what is due, in one transaction. */
  async function exchange(done: UnrecordedAttempt[]): Promise<Claim[]> {
    const [at, inHand] = [now(), [...flying.values()]]
    const notices = inHand.filter(({ event }) => event === CHANNEL_DISABLED).map(({ id }) => id)
    const taken = await db.write(async (connection, onCommit) => {
      await recordAttempts({ connection, engine: db.engine, onCommit, wake }, done)
      if (inHand.length >= CONCURRENT_ATTEMPTS) return undefined
      const found = await scheduleTurns(connection, { now: at, inHand, resting: breaker.resting(at), round })
      const wanted = {
        turns: found.turns,
        disabledNotices: { most: CONCURRENT_NOTICES - notices.length, inHand: notices },
        now: at,
        leaseMs,
      }
      return { claims: await claimDeliveries(connection, db.engine, wanted), round: found.round }
    })
    round = taken?.round ?? round
    return taken?.claims ?? []
  }

  /** Each alone: the store is away, or one of them is what cannot be written. */
  async function recordEach(done: UnrecordedAttempt[]) {
    const record = (one: UnrecordedAttempt) =>
      db
        .write((connection, onCommit) =>
          recordAttempts({ connection, engine: db.engine, onCommit, wake }, [one]),
        )
        .catch((error) => logUnrecordedAttempt(one.claim, error))
    await Promise.all(done.map(record))
  }

  async function turn() {
    do {
      again = false
      for (let more = true; more && !closed; ) {
        await gather()
        const done = ended
        ended = []
        const claims = await exchange(done).catch(async (error) => {
          await recordEach(done)
          throw error
        })
        for (const one of claims) begin(one)
        more = claims.length > 0 || ended.length > 0
      }
    } while (again && !closed)
    if (performance.now() - lookedAt > METRICS_EVERY_MS) {
      lookedAt = performance.now()
      await counts.look(db)
    }
    if (degraded) log.info('deliveries_go_on')
    degraded = false
  }

  function begin(one: Claim) {
    const work = deliver(one).finally(() => {
      flying.delete(work)
      if (flying.size === 0) gathered()
      wake()
    })
    flying.set(work, one)
  }

  async function deliver(one: Claim) {
    const [at, began] = [now(), performance.now()]
    const result = await attemptDelivery(needs, one, at)
    const made = result && { result, at, tookMs: performance.now() - began, now: now() }
    ended.push({ claim: one, report: made })
    if (!result) return
    counts.count(one.event === CHANNEL_DISABLED ? 'email' : one.channel.type, result.outcome)
    tellOperator(one, result)
    if (one.event === CHANNEL_DISABLED) return
    if (result.outcome === 'delivered') breaker.mended(one.channel.id)
    // What is refused for what it says was answered all the same.
    else if (result.permanent?.what !== 'message') breaker.failed(one.channel.id, now())
  }

  /** Once for each fault, not for each mail that it holds up. */
  function tellOperator({ event, channel }: Claim, { outcome, answer, operatorFault }: DeliveryResult) {
    if (operatorFault && answer !== fault) log.warn('mail_not_sent', { answer })
    if (operatorFault) fault = answer
    else if (outcome === 'delivered' && (event === CHANNEL_DISABLED || channel.type === 'email')) fault = null
  }

  function wake(mended?: number) {
    if (closed) return
    if (mended !== undefined) breaker.mended(mended)
    if (turning) {
      again = true
      return
    }
    clearTimeout(timer)
    turning = turn()
      .catch((error) => {
        // Said once, not every second: the store is away, and nothing is lost by waiting for it.
        if (!degraded) log.warn('deliveries_wait', describeError(error))
        degraded = true
        again = false
      })
      .finally(() => {
        turning = undefined
        if (again) wake()
        else if (!closed) timer = setTimeout(() => wake(), pollMs)
      })
  }

  wake()
  return {
    wake,
    metrics: () => counts.metrics(now()),
    async close() {
      closed = true
      clearTimeout(timer)
      await turning
      await Promise.race([Promise.all(flying.keys()), Bun.sleep(CLOSE_MS)])
      await recordEach(ended)
    },
  }
}
