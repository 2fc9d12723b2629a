// Delivers what is due: at once when it is enqueued, and again as retry-schedule.ts plans. Any number of processes may
// run a deliverer on the same database.

import { withTimeout } from '../../../lib/concurrency/with-timeout.ts'
import { describeError, log } from '../../../lib/log.ts'
import { createRequestContext, runForNobody, runForRequest } from '../../../lib/telemetry/request-context.ts'
import { getTracer } from '../../../lib/telemetry/tracing.ts'
import type { DeliveryResult, WakeDeliverer } from '../channels/contract.ts'
import { gatherDigests, settleDigests } from '../digests/gather-digests.ts'
import { isOwnerNotice } from '../outbox/enqueue-deliveries.ts'
import { REPLY_CHANNEL } from '../outbox/enqueue-reply.ts'
import { type AttemptNeeds, type AttemptResult, attemptDelivery } from './attempt-delivery.ts'
import { openBacklogWatch } from './backlog-watch.ts'
import { createChannelConcurrency } from './channel-concurrency.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { type Claim, claimDeliveries, hasWaiting, LEASE_MS, releaseLeases } from './claim-deliveries.ts'
import { createDeliveryMetrics } from './delivery-metrics.ts'
import { hasFreeSlots, type RoundRobinPosition, scheduleTurns } from './fair-schedule.ts'
import {
  countsForChannel,
  logUnrecordedAttempt,
  recordAttempts,
  type UnrecordedAttempt,
} from './record-attempts.ts'

export interface DelivererNeeds extends AttemptNeeds {
  now: () => number
  leaseMs?: number
  /** The interval of looks for due deliveries when nobody wakes the deliverer. */
  pollMs?: number
  /** The interval of checks for channels that fall behind. */
  checkMs?: number
}

export interface Deliverer {
  wake: WakeDeliverer
  metrics(): ReturnType<ReturnType<typeof createDeliveryMetrics>['metrics']>
  /**
   * Claims nothing more. Resolves when the running attempts have ended, or after 20 seconds: another process or the
   * next start repeats the attempts that have not ended by then.
   */
  close(): Promise<void>
}

/** The types of channels whose deliveries are mails. */
const MAIL_TYPES: string[] = ['email', REPLY_CHANNEL]
/** Notices to owners about their channels, sent at the same time. */
const CONCURRENT_NOTICES = 2
/** With more attempts on their way than this, results wait for others. */
const GATHER_ABOVE = 8
const POLL_MS = 1_000
const GATHER_MS = 8
/** Longer than an attempt takes when the receiver answers in time. */
const CLOSE_MS = 20_000

type State = ReturnType<typeof createState>

const createState = (needs: DelivererNeeds) => ({
  needs,
  breaker: createCircuitBreaker(),
  concurrency: createChannelConcurrency(),
  metrics: createDeliveryMetrics(),
  mailFaults: createMailFaultLog(),
  /** The attempts that run now. */
  inFlight: new Map<Promise<void>, Claim>(),
  /** The attempts that have ended and are not yet in the database. */
  unrecorded: [] as UnrecordedAttempt[],
  round: { healthy: 0, failing: 0 } as RoundRobinPosition,
  /** Ends the wait in `gatherResults` early. */
  endGathering: () => {},
  /** The cycle that runs now; there is never more than one. */
  cycle: undefined as Promise<void> | undefined,
  /** `wake` was called during the cycle. */
  wokenAgain: false,
  timer: undefined as Timer | undefined,
  /** The last cycle failed, and the log says so. */
  degraded: false,
  closed: false,
})

/** @throws when the leases of the process before this one cannot be released */
export async function openDeliverer(needs: DelivererNeeds): Promise<Deliverer> {
  const state = createState(needs)
  await releaseLeases(needs.db, needs.now())
  wake(state)
  // Not in a cycle: under a steady load no cycle ends.
  const watch = openBacklogWatch({ ...needs, wake: () => wake(state) })
  return {
    wake: (recoveredChannelId) => wake(state, recoveredChannelId),
    metrics: () => state.metrics.metrics(needs.now(), watch.read()),
    async close() {
      await watch.close()
      await close(state)
    },
  }
}

function wake(state: State, recoveredChannelId?: number) {
  if (state.closed) return
  if (recoveredChannelId !== undefined) state.breaker.reset(recoveredChannelId)
  if (state.cycle) {
    state.wokenAgain = true
    return
  }
  clearTimeout(state.timer)
  state.cycle = runForNobody(() => runCycle(state))
    .catch((error) => {
      // Logged once and not every second: the store is away, and waiting for it loses nothing.
      if (!state.degraded) log.warn('deliveries_wait', describeError(error))
      state.degraded = true
      state.wokenAgain = false
    })
    .finally(() => {
      state.cycle = undefined
      if (state.wokenAgain) wake(state)
      else if (!state.closed) state.timer = setTimeout(wake, state.needs.pollMs ?? POLL_MS, state)
    })
}

/** Records and claims until nothing is due. */
async function runCycle(state: State) {
  do {
    state.wokenAgain = false
    const isIdle = state.inFlight.size + state.unrecorded.length === 0
    if (isIdle && !(await hasWaiting(state.needs.db.read))) continue
    for (let more = true; more && !state.closed; ) {
      await gatherResults(state)
      const results = state.unrecorded
      state.unrecorded = []
      const claimed = await recordAndClaim(state, results).catch(async (error) => {
        await recordEach(state, results)
        throw error
      })
      for (const claim of claimed.claims) startAttempt(state, claim)
      more = claimed.more || state.unrecorded.length > 0
    }
  } while (state.wokenAgain && !state.closed)
  if (state.degraded) log.info('deliveries_go_on')
  state.degraded = false
}

/** Waits for further results while many attempts run: one transaction for ten results costs as much as for one. */
async function gatherResults(state: State) {
  if (state.inFlight.size <= GATHER_ABOVE) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, GATHER_MS)
  state.endGathering = resolve
  await promise
  clearTimeout(timer)
}

/** Records the results and claims due deliveries, in one transaction. */
async function recordAndClaim(
  state: State,
  results: UnrecordedAttempt[],
): Promise<{ claims: Claim[]; more: boolean }> {
  const { db, now, leaseMs = LEASE_MS } = state.needs
  const [at, inFlight] = [now(), [...state.inFlight.values()]]
  const notices = inFlight.filter(({ event }) => isOwnerNotice(event)).map(({ id }) => id)
  const toChannels = inFlight.filter(({ event }) => !isOwnerNotice(event))
  const claimed = await db.write(async (connection, onCommit) => {
    await recordAttempts({ connection, engine: db.engine, onCommit, wake: () => wake(state) }, results)
    const isUnfinished = await settleDigests(connection)
    if (!hasFreeSlots(toChannels)) return { claims: [], round: state.round, isUnfinished }
    const { turns, round } = await scheduleTurns(connection, db.engine, {
      now: at,
      inFlight: toChannels,
      paused: state.breaker.listPaused(at),
      round: state.round,
      getLimit: state.concurrency.getLimit,
    })
    const ownerNotices = { limit: CONCURRENT_NOTICES - notices.length, inFlightIds: notices }
    const gathering = await gatherDigests(
      connection,
      turns.map(({ channel }) => channel),
      at,
    )
    const ready = turns.filter(({ channel }) => !gathering.has(channel.id))
    const request = { turns: ready, ownerNotices, now: at, leaseMs }
    const claims = await claimDeliveries(connection, db.engine, request)
    return { claims, round, isUnfinished: isUnfinished || gathering.size > 0 }
  })
  state.round = claimed.round
  noteRunning(state, [...toChannels, ...claimed.claims])
  return { claims: claimed.claims, more: claimed.claims.length > 0 || claimed.isUnfinished }
}

/** @param running all attempts that have a slot now */
function noteRunning({ concurrency }: State, running: Claim[]) {
  for (const [, [claim, ...others]] of Map.groupBy(running, ({ channel }) => channel.id))
    if (claim) concurrency.noteRunning(claim.channel, 1 + others.length)
}

/** Records each result in a transaction of its own: one of them may be what the store cannot write. */
async function recordEach(state: State, results: UnrecordedAttempt[]) {
  const { db } = state.needs
  const record = (result: UnrecordedAttempt) =>
    db
      .write((connection, onCommit) =>
        recordAttempts({ connection, engine: db.engine, onCommit, wake: () => wake(state) }, [result]),
      )
      .catch((error) => logUnrecordedAttempt(result.claim, error))
  await Promise.all(results.map(record))
}

function startAttempt(state: State, claim: Claim) {
  const attempt = runAttempt(state, claim).finally(() => {
    state.inFlight.delete(attempt)
    if (state.inFlight.size === 0) state.endGathering()
    wake(state)
  })
  state.inFlight.set(attempt, claim)
}

async function runAttempt(state: State, claim: Claim) {
  const { now } = state.needs
  const [at, startedAt] = [now(), performance.now()]
  const attempted = await observeAttempt(claim, () => attemptDelivery(state.needs, claim, at))
  state.unrecorded.push({ claim, report: attempted && { ...attempted, at, now: now() } })
  if (!attempted || attempted.result.postponed) return
  const { result, tookMs } = attempted
  const isNotice = isOwnerNotice(claim.event)
  state.metrics.countAttempt(isNotice ? 'email' : claim.channel.type, result.outcome)
  state.mailFaults.note(isNotice || MAIL_TYPES.includes(claim.channel.type), result)
  if (isNotice) return
  const delivered = result.outcome === 'delivered'
  state.concurrency.record(claim.channel, { delivered, startedAt, tookMs })
  if (delivered) state.breaker.reset(claim.channel.id)
  // A receiver that refuses this message alone has answered: it is not away.
  else if (result.permanent?.what !== 'message' && countsForChannel(claim.event, result))
    state.breaker.recordFailure(claim.channel.id, now())
}

/** Logs that this server cannot send mail: once for each fault, not for each mail it holds up. */
function createMailFaultLog() {
  let logged: string | null = null
  return {
    /** @param isMail whether the attempt went out as an email */
    note(isMail: boolean, { outcome, answer, operatorFault }: DeliveryResult) {
      if (operatorFault) {
        if (answer !== logged) log.warn('mail_not_sent', { answer })
        logged = answer
      } else if (isMail && outcome === 'delivered') logged = null
    },
  }
}

const ROUTE = 'delivery'

/**
 * Observes an attempt with a log line and a span. Every log line of the attempt has the id of the request that has
 * caused the delivery.
 */
async function observeAttempt(
  claim: Claim,
  attempt: () => Promise<AttemptResult | undefined>,
): Promise<AttemptResult | undefined> {
  const { id, workspaceId, channel, requestId, traceparent } = claim
  const startedAt = performance.now()
  const span = getTracer()?.start({
    name: `deliver ${channel.type}`,
    kind: 'client',
    link: traceparent ?? undefined,
    attributes: { 'towpath.channel.type': channel.type, 'towpath.delivery.attempt': claim.attempts },
  })
  const work = async () => {
    const attempted = await attempt()
    const { outcome = 'obsolete', httpStatus = null } = attempted?.result ?? {}
    log.info('delivery_attempt', {
      delivery: id,
      workspaceId,
      channel: channel.id,
      type: channel.type,
      attempt: claim.attempts,
      outcome,
      status: httpStatus ?? undefined,
      ms: Math.round(performance.now() - startedAt),
    })
    span?.end({
      failed: outcome !== 'delivered' && outcome !== 'obsolete',
      attributes: {
        'towpath.delivery.outcome': outcome,
        ...(httpStatus !== null && { 'http.response.status_code': httpStatus }),
      },
    })
    return attempted
  }
  // Without a request, such as for a notice to owners, the lines have no id.
  return requestId === null ? work() : runForRequest(createRequestContext(requestId, ROUTE, span), work)
}

async function close(state: State) {
  state.closed = true
  clearTimeout(state.timer)
  await state.cycle
  await withTimeout(Promise.all(state.inFlight.keys()), CLOSE_MS, () => [])
  await recordEach(state, state.unrecorded)
}
