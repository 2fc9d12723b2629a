// Idempotency-Key on POST: the first answer is stored in the same transaction as what the request did, so a repeated
// request either finds both or neither. An answer that shows a secret is stored sealed.

import { createHash } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { invalid } from '../../../lib/failure.ts'
import { createTextSealer, type TextSealer } from '../../../lib/sealing.ts'
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
  /** The installation's own: answers that show a secret are stored sealed with it. */
  secret: string
}

export function createIdempotency({ now, secret }: IdempotencyNeeds): MiddlewareHandler<ApiEnv> {
  const sealer = createTextSealer(secret, 'towpath idempotent answers 1')
  return async (c, next) => {
    const key = c.req.header('idempotency-key')
    if (c.req.method !== 'POST' || key === undefined) return next()
    const facts = c.get('facts')
    if (!facts?.idempotent) throw invalid({ 'Idempotency-Key': 'is not taken here: the answer is told once' })
    if (!KEY.test(key)) throw invalid({ 'Idempotency-Key': 'must be 1 to 255 visible ASCII characters' })

    const asked = await readAsked(c, key)
    const db = c.get('db')
    const stored = facts.secretInAnswer ? sealedFor(sealer, asked) : PLAIN
    const answer = async () => {
      await next()
      return c.res.status < 500 && { status: c.res.status, body: stored.write(await c.res.clone().text()) }
    }
    // A slow handler would hold up every writer from within a transaction. Its key is taken before it and its answer
    // stored after it, so a process that is killed in between has done the work and not said so.
    const kept = facts.slow
      ? await answerOutsideTransaction(db, asked, now, answer)
      : await answerInTransaction(db, asked, now, (inner) => {
          c.set('db', inner)
          return answer()
        })
    if (!kept) return
    if (kept.path !== asked.path || kept.body_hash !== asked.bodyHash) {
      throw invalid({ 'Idempotency-Key': 'was used before with another request' })
    }
    return c.body(stored.read(kept.body), kept.status as 200, {
      'Content-Type': 'application/json',
      'Idempotency-Replayed': 'true',
    })
  }
}

async function readAsked(c: Context<ApiEnv>, key: string): Promise<IdempotentRequest> {
  const actor = c.get('actor')
  const body = await c.req.text()
  return {
    workspaceId: actor.workspaceId,
    // What one person was answered is not for another one to read; no key of theirs has a space in it.
    key: actor.kind === 'user' ? `person ${actor.userId} ${key}` : key,
    path: c.req.path,
    bodyHash: createHash('sha256').update(body).digest('hex'),
  }
}

/** How the text of an answer stands in the row. */
interface StoredText {
  write(text: string): string
  read(stored: string): string
}

const PLAIN: StoredText = { write: (text) => text, read: (stored) => stored }

/** For an answer that shows a secret. It opens for the request that it answers, and in no other row. */
function sealedFor(sealer: TextSealer, { workspaceId, key, path }: IdempotentRequest): StoredText {
  const owner = JSON.stringify([workspaceId, key, path])
  return {
    write: (text) => sealer.seal(text, owner),
    read(stored) {
      // Earlier releases stored these answers as they were, and each is kept for a day.
      if (stored.startsWith('{')) return stored
      const text = sealer.open(stored, owner)
      if (text === undefined)
        throw new Error('A stored answer cannot be read: is TOWPATH_SECRET another one than before?')
      return text
    },
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
