// Records how attempts ended, and what follows for the deliveries and their channels.

import { type Insertable, sql } from 'kysely'
import { describeError, log } from '../../../lib/log.ts'
import type { Connection, DatabaseEngine, OnCommit } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareInserts, prepareQuery } from '../../../storage/database/prepare-query.ts'
import type { DeliveryAttempts } from '../../../storage/database/tables/notify-tables.ts'
import type { DeliveryResult } from '../channels/contract.ts'
import { toStoredRequest } from '../channels/sent-request.ts'
import { CHANNEL_DISABLED, enqueueOwnerNotice, isOwnerNotice } from '../outbox/enqueue-deliveries.ts'
import { isReplyEvent } from '../outbox/enqueue-reply.ts'
import { leaveQuietHours, readTiming } from '../timing/plan-delivery.ts'
import type { Claim } from './claim-deliveries.ts'
import { describeFailure } from './describe-failure.ts'
import { planNextAttempt, planPauseEnd } from './retry-schedule.ts'

export interface AttemptReport {
  result: DeliveryResult
  /** When the attempt started. */
  at: number
  tookMs: number
  /** When the attempt ended; the retry schedule counts from here. */
  now: number
}

/** An attempt that has ended and is not yet recorded. */
export interface UnrecordedAttempt {
  claim: Claim
  /** Absent where the delivery had no content any more. */
  report?: AttemptReport
}

/**
 * Records many attempts in one transaction. When another process has claimed a delivery in the meantime, its result
 * counts and the one here does not, unless the one here says that the delivery arrived.
 */
export async function recordAttempts(
  { engine, ...needs }: ChannelFailureNeeds & { engine: DatabaseEngine },
  attempts: UnrecordedAttempt[],
): Promise<void> {
  if (attempts.length === 0) return
  const { connection } = needs
  if (engine === 'postgres') await lockChannels(connection, attempts)
  const delivered: ReportedAttempt[] = []
  for (const { claim, report } of attempts) {
    if (!report) await deleteDelivery(connection, claim)
    else if (report.result.outcome === 'delivered') delivered.push({ claim, report })
    else if (await postpone(connection, claim, report)) continue
    else if (await scheduleRetry(connection, claim, report)) {
      await insertAttempts(connection, [{ ...claim, ...report }])
      // A delivery that nobody has confirmed in time says nothing about the channel.
      if (countsForChannel(claim.event, report.result) && !report.result.postponed)
        await recordChannelFailure(needs, claim, report)
    }
  }
  if (delivered.length > 0) await recordDelivered(connection, delivered)
}

const FIVE_DAYS_MS = 5 * 24 * 60 * 60 * 1000

interface ChannelFailureNeeds {
  connection: Connection
  onCommit: OnCommit
  wake: () => void
}

/**
 * Records on a channel that an attempt failed, and disables the channel when its failures will not end by
 * themselves.
 * @param now when the attempt ended
 */
async function recordChannelFailure(
  { connection, onCommit, wake }: ChannelFailureNeeds,
  { workspaceId, channel }: Claim,
  { result, now }: { result: DeliveryResult; now: number },
): Promise<void> {
  const pausedUntil = planPauseEnd(now, result.retryAfterMs)
  const row = await connection
    .updateTable('channels')
    .set((e) => ({
      failing_since: e.fn.coalesce('failing_since', e.val(now)),
      // A fault of the operator never counts against the channel.
      own_failures_since: result.operatorFault ? e.val(now) : e.fn.coalesce('own_failures_since', e.val(now)),
      last_error: describeFailure(result),
      ...(pausedUntil !== null && { paused_until: pausedUntil }),
    }))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', channel.id)
    .returning('own_failures_since')
    .executeTakeFirst()
  const reason = findReasonToDisable(result, row?.own_failures_since ?? now, now)
  if (reason === undefined) return
  const { numUpdatedRows } = await connection
    .updateTable('channels')
    .set({ enabled: 0, disabled_reason: reason, updated_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', channel.id)
    .where('enabled', '=', 1)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  await enqueueOwnerNotice(connection, CHANNEL_DISABLED, { workspaceId, channelId: channel.id, at: now })
  onCommit(() => {
    log.warn('channel_disabled', { workspace: workspaceId, channel: channel.id, type: channel.type, reason })
    wake()
  })
}

function findReasonToDisable(
  result: DeliveryResult,
  ownFailuresSince: number,
  now: number,
): string | undefined {
  if (result.operatorFault) return undefined
  if (result.permanent?.what === 'channel') return result.permanent.reason
  if (now - ownFailuresSince < FIVE_DAYS_MS) return undefined
  return `Every attempt failed for five days. The last failure: ${describeFailure(result)}`
}

/**
 * True for a failure that says something about the channel. Each reply goes to another address, so that only the mail server of
 * this server can fail them all.
 */
export const countsForChannel = (event: string, { operatorFault }: DeliveryResult): boolean =>
  isReplyEvent(event) ? operatorFault === true : !isOwnerNotice(event)

/**
 * Nothing was sent, so no attempt is used up. The channel waits as a whole, so that each of its deliveries does not try.
 * @returns false where the delivery does not wait: it is too old, or the result says nothing of waiting
 */
async function postpone(
  connection: Connection,
  claim: Claim,
  { result, now }: AttemptReport,
): Promise<boolean> {
  const { postponed } = result
  if (!postponed) return false
  const oldest = now - (postponed.maxAgeMs ?? Number.MAX_SAFE_INTEGER)
  const { numUpdatedRows } = await connection
    .updateTable('deliveries')
    .set((e) => ({
      leased_until: null,
      due_at: leaveQuietHours(readTiming(claim.channel).quietHours, now + postponed.ms),
      attempts: e('attempts', '-', 1),
      last_error: describeFailure(result),
    }))
    .where('workspace_id', '=', claim.workspaceId)
    .where('id', '=', claim.id)
    .where('status', '=', 'waiting')
    .where('attempts', '=', claim.attempts)
    .where('leased_until', 'is not', null)
    .where('created_at', '>', oldest)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  if (isOwnerNotice(claim.event)) return true
  await connection
    .updateTable('channels')
    .set({ paused_until: now + postponed.ms })
    .where('workspace_id', '=', claim.workspaceId)
    .where('id', '=', claim.channel.id)
    .execute()
  return true
}

type ReportedAttempt = Required<UnrecordedAttempt>

/**
 * Locks in the order of the ids, so that two processes never wait for each other; and before the deliveries are
 * locked, which is the order of a transaction that deletes a channel.
 */
async function lockChannels(connection: Connection, attempts: UnrecordedAttempt[]): Promise<void> {
  const ids = new Set(attempts.map(({ claim }) => claim.channel.id))
  await sql`select id from channels where id in (${sql.join([...ids])}) order by id for no key update`.execute(
    connection,
  )
}

/** For a delivery whose submission or reason is gone. */
const deleteDelivery = (connection: Connection, { id, workspaceId }: Claim) =>
  connection.deleteFrom('deliveries').where('workspace_id', '=', workspaceId).where('id', '=', id).execute()

async function recordDelivered(connection: Connection, delivered: ReportedAttempt[]): Promise<void> {
  const now = Math.max(...delivered.map(({ report }) => report.now))
  const rows = await setDelivered(connection, { now, ids: delivered.map(({ claim }) => claim.id) })
  // The other deliveries were deleted with their submission or channel.
  const updated = new Set(rows.map(({ id }) => id))
  const existing = delivered.filter(({ claim }) => updated.has(claim.id))
  if (existing.length === 0) return
  await insertAttempts(
    connection,
    existing.map(({ claim, report }) => ({ ...claim, ...report })),
  )
  const healthy = new Set(
    existing.filter(({ claim }) => !isOwnerNotice(claim.event)).map(({ claim }) => claim.channel.id),
  )
  if (healthy.size === 0) return
  await setHealthy(connection, { now, ids: [...healthy] })
}

interface ListUpdate extends Record<string, unknown> {
  now: number
  ids: number[]
}

const setDelivered = prepareQuery(updateDelivered)
function updateDelivered(connection: Connection, { now, ids }: ListUpdate) {
  return connection
    .updateTable('deliveries')
    .set({ status: 'delivered', due_at: null, leased_until: null, finished_at: now, last_error: null })
    .where(isOneOf(connection, 'id', ids))
    .where('status', '=', 'waiting')
    .returning('id')
}

const setHealthy = prepareQuery(updateHealthy)
function updateHealthy(connection: Connection, { now, ids }: ListUpdate) {
  return connection
    .updateTable('channels')
    .set({ last_delivery_at: now, failing_since: null, own_failures_since: null, last_error: null })
    .where(isOneOf(connection, 'id', ids))
}

/** @returns false where another process has claimed the delivery in the meantime, or the result is recorded already */
async function scheduleRetry(connection: Connection, claim: Claim, report: AttemptReport): Promise<boolean> {
  const { numUpdatedRows } = await connection
    .updateTable('deliveries')
    .set({ leased_until: null, ...toUpdate(claim, report) })
    .where('workspace_id', '=', claim.workspaceId)
    .where('id', '=', claim.id)
    .where('status', '=', 'waiting')
    .where('attempts', '=', claim.attempts)
    // Null when a commit whose answer was lost has recorded this result already.
    .where('leased_until', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

function toUpdate({ attempts, interrupted, channel, event }: Claim, { result, now }: AttemptReport) {
  // When the channel is broken for good, its deliveries wait for the repair. When it refuses this message alone, the
  // delivery has failed.
  const dueAt =
    result.permanent?.what === 'message' || result.postponed
      ? undefined
      : planNextAttempt({ at: now, attempts: attempts - interrupted, retryAfterMs: result.retryAfterMs })
  const last_error = describeFailure(result)
  const { quietHours } = readTiming(channel)
  if (dueAt !== undefined)
    return { last_error, due_at: isOwnerNotice(event) ? dueAt : leaveQuietHours(quietHours, dueAt) }
  return { last_error, status: 'failed', due_at: null, finished_at: now }
}

type NewAttempt = Pick<Claim, 'id' | 'workspaceId' | 'attempts' | 'attemptsBefore'> &
  Omit<AttemptReport, 'now'>

/** The request of an earlier attempt makes room for the new one: a delivery that fails ten times keeps one. */
export async function insertAttempts(connection: Connection, attempts: NewAttempt[]): Promise<void> {
  const repeated = attempts.filter(
    ({ attemptsBefore, attempts, result }) => attemptsBefore + attempts > 1 && result.request,
  )
  if (repeated.length > 0) {
    const workspaces = repeated.map(({ workspaceId }) => workspaceId)
    const deliveries = repeated.map(({ id }) => id)
    await connection
      .updateTable('delivery_attempts')
      .set({ request: null })
      .where('workspace_id', 'in', workspaces)
      .where('delivery_id', 'in', deliveries)
      .where('request', 'is not', null)
      .execute()
  }
  const values = attempts.map(({ id, workspaceId, attempts: attempt, result, at, tookMs }) => ({
    delivery_id: id,
    workspace_id: workspaceId,
    attempt,
    outcome: result.outcome,
    http_status: result.httpStatus,
    // PostgreSQL stores no NUL, and no engine stores a lone surrogate.
    answer: result.answer?.replaceAll('\0', '').toWellFormed().slice(0, 1024) ?? null,
    request: toStoredRequest(result.request),
    took_ms: Math.round(tookMs),
    at,
  }))
  await insertAttemptRows(connection, values)
}

const insertAttemptRows = prepareInserts((connection, rows: Insertable<DeliveryAttempts>[]) =>
  connection.insertInto('delivery_attempts').values(rows),
)

/** For a store that does not answer now: the lease ends, and the deliverer repeats the delivery. */
export function logUnrecordedAttempt({ id, workspaceId, requestId }: Claim, error: unknown) {
  const about = { workspace: workspaceId, delivery: id, requestId: requestId ?? undefined }
  log.error('attempt_not_recorded', { ...about, ...describeError(error) })
}
