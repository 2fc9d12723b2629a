// Idempotency-Key on POST: the first answer is kept in the same transaction as what the request did, so a repeated
// request either finds both or neither.

import { createHash } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { invalid } from '../../../lib/failure.ts'
import { toFailure } from '../../../storage/database/errors.ts'
import { type Connection, type Database, toNestedDatabase } from '../../../storage/database/open-database.ts'
import type { ApiEnv } from './guard.ts'

const KEPT_MS = 24 * 60 * 60 * 1000
const KEY = /^[\x21-\x7e]{1,255}$/

/** Carries an answer of ours out of a transaction that must not be committed. */
class Rollback extends Error {}

interface IdempotentRequest {
  workspaceId: number
  key: string
  path: string
  bodyHash: string
}

/** A handler that waits for others has ended by then. */
const UNANSWERED_MS = 60_000
const TWIN_LOOK_MS = 50

export interface IdempotencyNeeds {
  now: () => number
  /**
   * Paths whose handlers wait for somebody else's server: within a transaction they would hold up every writer. Their
   * key is taken before and the answer kept after them, so that a process killed in between has done it and not said so.
   */
  slow?: (path: string) => boolean
  /** Paths that take no key: what they answer is told once, and kept nowhere. */
  refusesKey?: (path: string) => boolean
}

const never = () => false

export function createIdempotency({
  now,
  slow = never,
  refusesKey = never,
}: IdempotencyNeeds): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const key = c.req.header('idempotency-key')
    if (c.req.method !== 'POST' || key === undefined) return next()
    if (refusesKey(c.req.path))
      throw invalid({ 'Idempotency-Key': 'is not taken here: the answer is told once' })
    if (!KEY.test(key)) throw invalid({ 'Idempotency-Key': 'must be 1 to 255 visible ASCII characters' })

    const actor = c.get('actor')
    const { workspaceId } = actor
    const body = await c.req.text()
    const asked: IdempotentRequest = {
      workspaceId,
      // What one person was answered is not for another one to read; no key of theirs has a space in it.
      key: actor.kind === 'user' ? `person ${actor.userId} ${key}` : key,
      path: c.req.path,
      bodyHash: createHash('sha256').update(body).digest('hex'),
    }
    const db = c.get('db')
    const answer = async () => {
      await next()
      return c.res.status < 500 && { status: c.res.status, body: await c.res.clone().text() }
    }
    const kept = slow(c.req.path)
      ? await answerOutsideTransaction(db, asked, now, answer)
      : await answerInTransaction(db, asked, now, (inner) => {
          c.set('db', inner)
          return answer()
        })
    if (!kept) return
    if (kept.path !== asked.path || kept.body_hash !== asked.bodyHash) {
      throw invalid({ 'Idempotency-Key': 'was used before with another request' })
    }
    return c.body(kept.body, kept.status as 200, {
      'Content-Type': 'application/json',
      'Idempotency-Replayed': 'true',
    })
  }
}

type HandlerAnswer = { status: number; body: string } | false

/** Both return what was answered before; undefined where that is done now. A failure of ours is not kept. */
async function answerInTransaction(
  db: Database,
  asked: IdempotentRequest,
  now: () => number,
  answer: (db: Database) => Promise<HandlerAnswer>,
) {
  try {
    return await db.write(async (connection, onCommit) => {
      const first = await claimKey(connection, asked, now())
      if (first) return first
      const answered = await answer(toNestedDatabase(db, connection, onCommit))
      if (!answered) throw new Rollback()
      await storeAnswer(connection, asked, answered)
      return undefined
    })
  } catch (error) {
    if (!(error instanceof Rollback)) throw error
    return undefined
  }
}

async function answerOutsideTransaction(
  db: Database,
  asked: IdempotentRequest,
  now: () => number,
  answer: () => Promise<HandlerAnswer>,
) {
  for (;;) {
    const first = await db.write((connection) => claimKey(connection, asked, now()))
    if (!first) break
    const other = first.path !== asked.path || first.body_hash !== asked.bodyHash
    if (other || first.status !== 0) return first
    // A twin is being answered: what it gets, this one gets.
    await Bun.sleep(TWIN_LOOK_MS)
  }
  let answered: HandlerAnswer = false
  try {
    answered = await answer()
  } finally {
    await db.write((connection) =>
      answered ? storeAnswer(connection, asked, answered) : deleteKey(connection, asked),
    )
  }
  return undefined
}

async function deleteKey(connection: Connection, { workspaceId, key }: IdempotentRequest) {
  await connection
    .deleteFrom('idempotency_keys')
    .where('workspace_id', '=', workspaceId)
    .where('key', '=', key)
    .execute()
}

/** @returns what the key was first answered with (status 0: not yet); undefined when it is ours to answer now. */
async function claimKey(
  connection: Connection,
  { workspaceId, key, path, bodyHash }: IdempotentRequest,
  now: number,
) {
  const fresh = { path, body_hash: bodyHash, status: 0, body: '', created_at: now }
  // Taking the key first makes a concurrent twin wait here until this transaction has ended.
  const taken = await connection
    .insertInto('idempotency_keys')
    .values({ workspace_id: workspaceId, key, ...fresh })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'key'])
        .doUpdateSet(fresh)
        .where((e) =>
          e.or([
            e('idempotency_keys.created_at', '<', now - KEPT_MS),
            e.and([
              e('idempotency_keys.status', '=', 0),
              e('idempotency_keys.created_at', '<', now - UNANSWERED_MS),
            ]),
          ]),
        ),
    )
    .returning('key')
    .executeTakeFirst()
  if (taken) return undefined
  return connection
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
}

async function storeAnswer(
  connection: Connection,
  { workspaceId, key }: IdempotentRequest,
  answer: { status: number; body: string },
) {
  try {
    await connection
      .updateTable('idempotency_keys')
      .set(answer)
      .where('workspace_id', '=', workspaceId)
      .where('key', '=', key)
      .execute()
  } catch (error) {
    // As a Failure it is not tried again: the handler has run, and `next` runs once.
    throw toFailure(error)
  }
}

/** Keys older than a day are free again. */
export async function pruneIdempotencyKeys(db: Database, now: number): Promise<void> {
  await db.write((connection) =>
    // Every workspace's: this is the house's own sweep, asked for by nobody.
    connection
      .deleteFrom('idempotency_keys')
      .where('created_at', '<', now - KEPT_MS)
      .execute(),
  )
}
