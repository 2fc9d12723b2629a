// Writes down how attempts ended, and what follows for the deliveries and for their channels.

import { sql } from 'kysely'
import { describeError, log } from '../../lib/log.ts'
import type { Db, Engine, OnCommit, Rows } from '../../storage/rows/open.ts'
import type { Claim } from './claim.ts'
import { enqueueWord, WORD } from './enqueue.ts'
import { nextDue, pausedUntil } from './ladder.ts'
import type { Result } from './notice.ts'

const FIVE_DAYS_MS = 5 * 24 * 60 * 60 * 1000

export interface Made {
  result: Result
  /** When it began. */
  at: number
  tookMs: number
  /** When it ended: what comes next counts from here. */
  now: number
}

/** An attempt that is over and not yet written down. */
export interface Ended {
  claim: Claim
  /** Absent where there was nothing to say any more. */
  made?: Made
}

/**
 * Of many at once, in one transaction. Who took a delivery over meanwhile has the say of it; only that it arrived
 * counts from whomever.
 */
export async function recordAttempts(
  { db, engine, onCommit, wake }: { db: Db; engine: Engine; onCommit: OnCommit; wake: () => void },
  ended: Ended[],
): Promise<void> {
  if (ended.length === 0) return
  if (engine === 'postgres') await lockChannels(db, ended)
  const delivered: Attempted[] = []
  for (const { claim, made } of ended) {
    if (!made) await forget(db, claim)
    else if (made.result.outcome === 'delivered') delivered.push({ claim, made })
    else if (await planAgain(db, claim, made)) {
      await noteAttempts(db, [{ ...claim, ...made }])
      if (claim.event !== WORD) await noteFailure(db, onCommit, claim, made, wake)
    }
  }
  if (delivered.length > 0) await recordDelivered(db, delivered)
}

type Attempted = Required<Ended>

/** In one order, or two processes could wait for each other; and before the deliveries, as whoever deletes one has it. */
async function lockChannels(db: Db, ended: Ended[]): Promise<void> {
  const ids = new Set(ended.map(({ claim }) => claim.channel.id))
  await sql`select id from channels where id in (${sql.join([...ids])}) order by id for no key update`.execute(
    db,
  )
}

/** There is nothing to say any more. */
const forget = (db: Db, { id, workspaceId }: Claim) =>
  db.deleteFrom('deliveries').where('workspace_id', '=', workspaceId).where('id', '=', id).execute()

async function recordDelivered(db: Db, delivered: Attempted[]): Promise<void> {
  const now = Math.max(...delivered.map(({ made }) => made.now))
  const { rows } = await sql<{ id: number }>`
    update deliveries set status = 'delivered', due_at = null, leased_until = null, finished_at = ${now}
    where id in (${sql.join(delivered.map(({ claim }) => claim.id))}) and status = 'waiting'
    returning id`.execute(db)
  // Others were deleted with their submission or channel.
  const there = new Set(rows.map(({ id }) => id))
  const known = delivered.filter(({ claim }) => there.has(claim.id))
  if (known.length === 0) return
  await noteAttempts(
    db,
    known.map(({ claim, made }) => ({ ...claim, ...made })),
  )
  const sound = new Set(
    known.filter(({ claim }) => claim.event !== WORD).map(({ claim }) => claim.channel.id),
  )
  if (sound.size === 0) return
  await sql`update channels set last_delivery_at = ${now}, failing_since = null
    where id in (${sql.join([...sound])})`.execute(db)
}

/** @returns whether it is still this one's */
async function planAgain(db: Db, claim: Claim, made: Made): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('deliveries')
    .set({ leased_until: null, ...endOf(claim, made) })
    .where('workspace_id', '=', claim.workspaceId)
    .where('id', '=', claim.id)
    .where('status', '=', 'waiting')
    .where('attempts', '=', claim.attempts)
    // Not what was written down already, by a commit whose answer was lost.
    .where('leased_until', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

function endOf({ attempts, interrupted }: Claim, { result, now }: Made) {
  // What a channel refuses for good waits for it to be mended; what it refuses of this message alone is over.
  const due =
    result.permanent?.what === 'message'
      ? undefined
      : nextDue({ at: now, attempts: attempts - interrupted, retryAfterMs: result.retryAfterMs })
  return due === undefined ? { status: 'failed', due_at: null, finished_at: now } : { due_at: due }
}

type Noted = Pick<Claim, 'id' | 'workspaceId' | 'attempts'> & Omit<Made, 'now'>

export async function noteAttempts(db: Db, noted: Noted[]): Promise<void> {
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
  await db.insertInto('delivery_attempts').values(values).execute()
}

async function noteFailure(
  db: Db,
  onCommit: OnCommit,
  { workspaceId, channel }: Claim,
  { result, now }: Made,
  wake: () => void,
) {
  const paused = pausedUntil(now, result.retryAfterMs)
  const row = await db
    .updateTable('channels')
    .set((e) => ({
      // What is the operator's fault is never counted against it.
      failing_since: result.operators ? e.val(now) : e.fn.coalesce('failing_since', e.val(now)),
      ...(paused !== null && { paused_until: paused }),
    }))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', channel.id)
    .returning('failing_since')
    .executeTakeFirst()
  const reason = reasonToDisable(result, row?.failing_since ?? now, now)
  if (reason === undefined) return
  const off = await db
    .updateTable('channels')
    .set({ enabled: 0, disabled_reason: reason, updated_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', channel.id)
    .where('enabled', '=', 1)
    .executeTakeFirst()
  if (off.numUpdatedRows === 0n) return
  await enqueueWord(db, workspaceId, channel.id, now)
  onCommit(() => {
    log.warn('channel_disabled', { workspace: workspaceId, channel: channel.id, type: channel.type, reason })
    wake()
  })
}

function reasonToDisable({ permanent, operators, answer, httpStatus }: Result, since: number, now: number) {
  if (operators) return undefined
  if (permanent?.what === 'channel') return permanent.reason
  if (now - since < FIVE_DAYS_MS) return undefined
  const last = [httpStatus, answer].filter((part) => part !== null && part !== '').join(' ')
  return `Nothing but failures for five days${last === '' ? '' : `; the last was: ${last.slice(0, 200)}`}`
}

/** As a job: what is said of attempts is kept for 30 days. */
export async function forgetOldAttempts(rows: Rows, now: number): Promise<void> {
  const before = now - 30 * 24 * 60 * 60 * 1000
  for (;;) {
    const { numDeletedRows } = await rows.write((db) =>
      db
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
export function notRecorded({ id, workspaceId }: Claim, error: unknown) {
  log.error('attempt_not_recorded', { workspace: workspaceId, delivery: id, ...describeError(error) })
}
