// Writes down how an attempt ended, and what follows for the delivery and for its channel.

import type { Insertable } from 'kysely'
import { describeError, log } from '../../lib/log.ts'
import type { Db, OnCommit, Rows } from '../../storage/rows/open.ts'
import { prepared } from '../../storage/rows/prepared.ts'
import type { Tables } from '../../storage/rows/tables.ts'
import type { Claim } from './claim.ts'
import { enqueueWord } from './enqueue.ts'
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

/** Who took a delivery over meanwhile has the say of it; only that it arrived counts from whomever. */
export async function recordAttempt(rows: Rows, claim: Claim, made: Made, wake: () => void): Promise<void> {
  const { result, now } = made
  const delivered = result.outcome === 'delivered'
  await rows.write(async (db, onCommit) => {
    let mine = db
      .updateTable('deliveries')
      .set({ leased_until: null, ...endOf(claim, made) })
      .where('workspace_id', '=', claim.workspaceId)
      .where('id', '=', claim.id)
      .where('status', '=', 'waiting')
    if (!delivered) mine = mine.where('attempts', '=', claim.attempts)
    const { numUpdatedRows } = await mine.executeTakeFirst()
    // Deleted with its submission or channel, or another's by now.
    if (numUpdatedRows === 0n) return
    await noteAttempt(db, claim, made)
    if (delivered) await noteSuccess(db, claim, now)
    else await noteFailure(db, onCommit, claim, made, wake)
  })
}

function endOf({ attempts }: Claim, { result, now }: Made) {
  if (result.outcome === 'delivered') return { status: 'delivered', due_at: null, finished_at: now }
  // What a channel refuses for good waits for it to be mended; what it refuses of this message alone is over.
  const due =
    result.permanent?.what === 'message'
      ? undefined
      : nextDue({ at: now, attempts, retryAfterMs: result.retryAfterMs })
  return due === undefined ? { status: 'failed', due_at: null, finished_at: now } : { due_at: due }
}

export async function noteAttempt(
  db: Db,
  { id, workspaceId, attempts }: Pick<Claim, 'id' | 'workspaceId' | 'attempts'>,
  { result, at, tookMs }: Omit<Made, 'now'>,
): Promise<void> {
  await insertAttempt(db, {
    delivery_id: id,
    workspace_id: workspaceId,
    attempt: attempts,
    outcome: result.outcome,
    http_status: result.httpStatus,
    // PostgreSQL keeps no NUL, and nobody half a surrogate.
    answer: result.answer?.replaceAll('\0', '').toWellFormed().slice(0, 1024) ?? null,
    took_ms: Math.round(tookMs),
    at,
  })
}

const insertAttempt = prepared((db, values: Insertable<Tables['delivery_attempts']>) =>
  db.insertInto('delivery_attempts').values(values),
)

async function noteSuccess(db: Db, { workspaceId, channel }: Claim, now: number) {
  await updateSound(db, { now, workspaceId, channelId: channel.id })
}

const updateSound = prepared((db, at: { now: number; workspaceId: number; channelId: number }) =>
  db
    .updateTable('channels')
    .set({ last_delivery_at: at.now, failing_since: null })
    .where('workspace_id', '=', at.workspaceId)
    .where('id', '=', at.channelId),
)

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
      failing_since: e.fn.coalesce('failing_since', e.val(now)),
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
  const told = await enqueueWord(db, workspaceId, channel.id, now)
  onCommit(() => {
    log.warn('channel_disabled', { workspace: workspaceId, channel: channel.id, type: channel.type, reason })
    if (told > 0) wake()
  })
}

function reasonToDisable({ permanent, answer, httpStatus }: Result, since: number, now: number) {
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
