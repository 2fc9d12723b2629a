// Writes down how attempts ended, and what follows for the deliveries and for their channels.

import { sql } from 'kysely'
import { describeError, log } from '../../../lib/log.ts'
import type {
  Connection,
  Database,
  DatabaseEngine,
  OnCommit,
} from '../../../storage/database/open-database.ts'
import type { DeliveryResult } from '../channels/contract.ts'
import type { Claim } from './claim-deliveries.ts'
import { CHANNEL_DISABLED, enqueueChannelDisabledNotice } from './enqueue-deliveries.ts'
import { planNextAttempt, planPauseEnd } from './retry-schedule.ts'

const FIVE_DAYS_MS = 5 * 24 * 60 * 60 * 1000

export interface AttemptReport {
  result: DeliveryResult
  /** When it began. */
  at: number
  tookMs: number
  /** When it ended: what comes next counts from here. */
  now: number
}

/** An attempt that is over and not yet written down. */
export interface UnrecordedAttempt {
  claim: Claim
  /** Absent where there was nothing to say any more. */
  report?: AttemptReport
}

/**
 * Of many at once, in one transaction. Who took a delivery over meanwhile has the say of it; only that it arrived
 * counts from whomever.
 */
export async function recordAttempts(
  {
    connection,
    engine,
    onCommit,
    wake,
  }: { connection: Connection; engine: DatabaseEngine; onCommit: OnCommit; wake: () => void },
  ended: UnrecordedAttempt[],
): Promise<void> {
  if (ended.length === 0) return
  if (engine === 'postgres') await lockChannels(connection, ended)
  const delivered: RecordedAttempt[] = []
  for (const { claim, report } of ended) {
    if (!report) await deleteDelivery(connection, claim)
    else if (report.result.outcome === 'delivered') delivered.push({ claim, report })
    else if (await scheduleRetry(connection, claim, report)) {
      await insertAttempts(connection, [{ ...claim, ...report }])
      if (claim.event !== CHANNEL_DISABLED) await recordFailure(connection, onCommit, claim, report, wake)
    }
  }
  if (delivered.length > 0) await recordDelivered(connection, delivered)
}

type RecordedAttempt = Required<UnrecordedAttempt>

/** In one order, or two processes could wait for each other; and before the deliveries, as whoever deletes one has it. */
async function lockChannels(connection: Connection, ended: UnrecordedAttempt[]): Promise<void> {
  const ids = new Set(ended.map(({ claim }) => claim.channel.id))
  await sql`select id from channels where id in (${sql.join([...ids])}) order by id for no key update`.execute(
    connection,
  )
}

/** There is nothing to say any more. */
const deleteDelivery = (connection: Connection, { id, workspaceId }: Claim) =>
  connection.deleteFrom('deliveries').where('workspace_id', '=', workspaceId).where('id', '=', id).execute()

async function recordDelivered(connection: Connection, delivered: RecordedAttempt[]): Promise<void> {
  const now = Math.max(...delivered.map(({ report }) => report.now))
  const { rows } = await sql<{ id: number }>`
    update deliveries set status = 'delivered', due_at = null, leased_until = null, finished_at = ${now}
    where id in (${sql.join(delivered.map(({ claim }) => claim.id))}) and status = 'waiting'
    returning id`.execute(connection)
  // Others were deleted with their submission or channel.
  const there = new Set(rows.map(({ id }) => id))
  const known = delivered.filter(({ claim }) => there.has(claim.id))
  if (known.length === 0) return
  await insertAttempts(
    connection,
    known.map(({ claim, report }) => ({ ...claim, ...report })),
  )
  const healthy = new Set(
    known.filter(({ claim }) => claim.event !== CHANNEL_DISABLED).map(({ claim }) => claim.channel.id),
  )
  if (healthy.size === 0) return
  await sql`update channels set last_delivery_at = ${now}, failing_since = null
    where id in (${sql.join([...healthy])})`.execute(connection)
}

/** @returns whether it is still this one's */
async function scheduleRetry(connection: Connection, claim: Claim, made: AttemptReport): Promise<boolean> {
  const { numUpdatedRows } = await connection
    .updateTable('deliveries')
    .set({ leased_until: null, ...toUpdate(claim, made) })
    .where('workspace_id', '=', claim.workspaceId)
    .where('id', '=', claim.id)
    .where('status', '=', 'waiting')
    .where('attempts', '=', claim.attempts)
    // Not what was written down already, by a commit whose answer was lost.
    .where('leased_until', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

function toUpdate({ attempts, interrupted }: Claim, { result, now }: AttemptReport) {
  // What a channel refuses for good waits for it to be mended; what it refuses of this message alone is over.
  const due =
    result.permanent?.what === 'message'
      ? undefined
      : planNextAttempt({ at: now, attempts: attempts - interrupted, retryAfterMs: result.retryAfterMs })
  return due === undefined ? { status: 'failed', due_at: null, finished_at: now } : { due_at: due }
}

type NewAttempt = Pick<Claim, 'id' | 'workspaceId' | 'attempts'> & Omit<AttemptReport, 'now'>

export async function insertAttempts(connection: Connection, noted: NewAttempt[]): Promise<void> {
  const values = noted.map(({ id, workspaceId, attempts, result, at, tookMs }) => ({
    delivery_id: id,
    workspace_id: workspaceId,
    attempt: attempts,
    outcome: result.outcome,
    http_status: result.httpStatus,
    // PostgreSQL keeps no NUL, and nobody half a surrogate.
    answer: result.answer?.replaceAll('\0', '').toWellFormed().slice(0, 1024) ?? null,
    took_ms: Math.round(tookMs),
    at,
  }))
  await connection.insertInto('delivery_attempts').values(values).execute()
}

async function recordFailure(
  connection: Connection,
  onCommit: OnCommit,
  { workspaceId, channel }: Claim,
  { result, now }: AttemptReport,
  wake: () => void,
) {
  const paused = planPauseEnd(now, result.retryAfterMs)
  const row = await connection
    .updateTable('channels')
    .set((e) => ({
      // What is the operator's fault is never counted against it.
      failing_since: result.operatorFault ? e.val(now) : e.fn.coalesce('failing_since', e.val(now)),
      ...(paused !== null && { paused_until: paused }),
    }))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', channel.id)
    .returning('failing_since')
    .executeTakeFirst()
  const reason = reasonToDisable(result, row?.failing_since ?? now, now)
  if (reason === undefined) return
  const off = await connection
    .updateTable('channels')
    .set({ enabled: 0, disabled_reason: reason, updated_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', channel.id)
    .where('enabled', '=', 1)
    .executeTakeFirst()
  if (off.numUpdatedRows === 0n) return
  await enqueueChannelDisabledNotice(connection, workspaceId, channel.id, now)
  onCommit(() => {
    log.warn('channel_disabled', { workspace: workspaceId, channel: channel.id, type: channel.type, reason })
    wake()
  })
}

function reasonToDisable(
  { permanent, operatorFault, answer, httpStatus }: DeliveryResult,
  since: number,
  now: number,
) {
  if (operatorFault) return undefined
  if (permanent?.what === 'channel') return permanent.reason
  if (now - since < FIVE_DAYS_MS) return undefined
  const last = [httpStatus, answer].filter((part) => part !== null && part !== '').join(' ')
  return `Nothing but failures for five days${last === '' ? '' : `; the last was: ${last.slice(0, 200)}`}`
}

/** As a job: what is said of attempts is kept for 30 days. */
export async function pruneAttempts(db: Database, now: number): Promise<void> {
  const before = now - 30 * 24 * 60 * 60 * 1000
  for (;;) {
    const { numDeletedRows } = await db.write((connection) =>
      connection
        .deleteFrom('delivery_attempts')
        .where('id', 'in', (of) =>
          of
            .selectFrom('delivery_attempts')
            .select('id')
            .where('at', '<', before)
            .orderBy('at')
            .limit(AT_ONCE),
        )
        .executeTakeFirst(),
    )
    if (numDeletedRows < AT_ONCE) return
  }
}

/** A write of SQLite holds up all others. */
const AT_ONCE = 500

/** A store that is away at this moment: the lease ends, and the delivery is made once more. */
export function logUnrecordedAttempt({ id, workspaceId }: Claim, error: unknown) {
  log.error('attempt_not_recorded', { workspace: workspaceId, delivery: id, ...describeError(error) })
}
