// Idempotency-Key on POST (docs/contract.md §1): the first answer is stored in the same transaction as the work of the
// request, so a repeated request finds both or neither. An answer that shows a secret is stored encrypted.

import type { Context, MiddlewareHandler } from 'hono'
import { sql } from 'kysely'
import { toStoredScopes } from '../../../http/key-scope.ts'
import type { RouteFacts } from '../../../http/route-facts.ts'
import { createTextSealer, type TextSealer } from '../../../lib/crypto/sealing.ts'
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { invalid } from '../../../lib/failure.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { toFailure } from '../../../storage/database/errors.ts'
import { toNestedDatabase } from '../../../storage/database/nested-database.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'
import type { Actor } from './actor.ts'
import type { ApiEnv } from './api-env.ts'

const KEY = /^[\x21-\x7e]{1,255}$/

/** Ends a transaction without a commit, because the handler has answered with a failure of the server. */
class Rollback extends Error {}

interface IdempotentRequest {
  workspaceId: number
  key: string
  path: string
  bodyHash: string
}

/**
 * A claimed key without an answer is free again after this time: its process was killed, since handlers end sooner.
 */
const UNANSWERED_MS = 60_000
const POLL_MS = 50

export interface IdempotencyNeeds {
  now: () => number
  /** `TOWPATH_SECRET`: encrypts stored answers that show a secret. */
  secret: string
}

export function createIdempotency({ now, secret }: IdempotencyNeeds): MiddlewareHandler<ApiEnv> {
  const sealer = createTextSealer(secret, 'towpath idempotent answers 1')
  return async (c, next) => {
    const key = c.req.header('idempotency-key')
    if (c.req.method !== 'POST' || key === undefined) return next()
    const facts = c.get('facts')
    if (!facts?.idempotent) throw invalid({ 'Idempotency-Key': `is not taken here: ${toReason(facts)}` })
    if (!KEY.test(key)) throw invalid({ 'Idempotency-Key': 'must be 1 to 255 visible ASCII characters' })

    const request = await readRequest(c, key)
    const db = c.get('db')
    const storedText = facts.secretInAnswer ? createSealedText(sealer, request) : PLAIN
    const answer = async () => {
      await next()
      return (
        c.res.status < 500 && { status: c.res.status, body: storedText.write(await c.res.clone().text()) }
      )
    }
    // Inside a transaction a slow handler would hold up every writer. Such a handler runs between two transactions: the
    // first claims the key, the second stores the answer. A process that is killed in between leaves work without an
    // answer.
    const first = facts.slow
      ? await answerOutsideTransaction(db, request, now, answer)
      : await answerInTransaction(db, request, now, (inner) => {
          c.set('db', inner)
          return answer()
        })
    if (!first) return
    if (isOtherRequest(first, request)) {
      throw invalid({ 'Idempotency-Key': 'was used before with another request' })
    }
    return c.body(storedText.read(first.body), first.status as 200, {
      'Content-Type': 'application/json',
      'Idempotency-Replayed': 'true',
    })
  }
}

const toReason = (facts: RouteFacts | undefined) =>
  facts?.body === 'upload' ? 'sending a file twice changes nothing' : 'the answer is told once'

const isOtherRequest = (stored: { path: string; body_hash: string }, { path, bodyHash }: IdempotentRequest) =>
  stored.path !== path || stored.body_hash !== bodyHash

async function readRequest(c: Context<ApiEnv>, key: string): Promise<IdempotentRequest> {
  const actor = c.get('actor')
  const body = await c.req.text()
  return {
    workspaceId: actor.workspaceId,
    key: toOwner(actor) + key,
    path: c.req.path,
    bodyHash: sha256Hex(body),
  }
}

/**
 * A stored answer is only for the person who got it first, or for API keys with the same scopes, because it may
 * contain data that others may not read. The header cannot contain a space.
 */
function toOwner(actor: Actor): string {
  if (actor.kind === 'user') return `person ${actor.userId} `
  const scopes = toStoredScopes(actor.scopes ?? ['*'])
  return scopes === '*' ? '' : `${scopes} `
}

/** How the text of an answer is stored in the row. */
interface StoredText {
  write(text: string): string
  read(stored: string): string
}

const PLAIN: StoredText = { write: (text) => text, read: (stored) => stored }

/** For an answer that shows a secret. The encryption binds the text to its row and path: it opens nowhere else. */
function createSealedText(sealer: TextSealer, { workspaceId, key, path }: IdempotentRequest): StoredText {
  const owner = JSON.stringify([workspaceId, key, path])
  return {
    write: (text) => sealer.seal(text, owner),
    read(stored) {
      // An earlier release stored these answers as plain JSON. Each row lives for a day.
      if (stored.startsWith('{')) return stored
      const text = sealer.open(stored, owner)
      if (text === undefined) throw new Error('A stored answer cannot be read: has TOWPATH_SECRET changed?')
      return text
    },
  }
}

type HandlerAnswer = { status: number; body: string } | false

/**
 * @returns the first answer, or undefined when this request is the first one. An answer of 500 or above is not stored.
 */
async function answerInTransaction(
  db: Database,
  request: IdempotentRequest,
  now: () => number,
  answer: (db: Database) => Promise<HandlerAnswer>,
) {
  try {
    return await db.write(async (connection, onCommit) => {
      const first = await claimKey(connection, request, now())
      if (first) return first
      const result = await answer(toNestedDatabase(db, connection, onCommit))
      if (!result) throw new Rollback()
      await storeAnswer(connection, request, result)
      return undefined
    })
  } catch (error) {
    if (!(error instanceof Rollback)) throw error
    return undefined
  }
}

/** As `answerInTransaction`, for a slow handler. */
async function answerOutsideTransaction(
  db: Database,
  request: IdempotentRequest,
  now: () => number,
  answer: () => Promise<HandlerAnswer>,
) {
  for (;;) {
    const first = await db.write((connection) => claimKey(connection, request, now()))
    if (!first) break
    if (isOtherRequest(first, request) || first.status !== 0) return first
    // Another request with this key is being answered: wait for its answer.
    await Bun.sleep(POLL_MS)
  }
  let result: HandlerAnswer = false
  try {
    result = await answer()
  } finally {
    await db.write((connection) =>
      result ? storeAnswer(connection, request, result) : deleteKey(connection, request),
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

/**
 * @returns the stored answer of the key (status 0: not answered yet), or undefined when this request has claimed the
 * key
 */
async function claimKey(
  connection: Connection,
  { workspaceId, key, path, bodyHash }: IdempotentRequest,
  now: number,
) {
  const fresh = { path, body_hash: bodyHash, status: 0, body: '', created_at: now }
  // The row makes a concurrent request with the same key wait here until this transaction has ended.
  const claimed = await connection
    .insertInto('idempotency_keys')
    .values({ workspace_id: workspaceId, key, ...fresh })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'key'])
        .doUpdateSet(fresh)
        .where((e) =>
          e.or([
            e('idempotency_keys.created_at', '<', now - DAY_MS),
            e.and([
              e('idempotency_keys.status', '=', 0),
              e('idempotency_keys.created_at', '<', now - UNANSWERED_MS),
            ]),
          ]),
        ),
    )
    .returning('key')
    .executeTakeFirst()
  if (claimed) return undefined
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
    // PostgreSQL transactions are not retried after a Failure. A retry would need the handler again, and `next` runs
    // once.
    throw toFailure(error)
  }
}

/** Deletes the keys of all workspaces that are older than a day. */
export async function pruneIdempotencyKeys(db: Database, now: number): Promise<void> {
  await pruneInSlices(db, 'idempotency_keys', sql`created_at < ${now - DAY_MS}`)
}
