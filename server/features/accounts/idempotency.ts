// Idempotency-Key on POST: the first answer is kept in the same transaction as what the request did, so a repeated
// request either finds both or neither.

import { createHash } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { invalid } from '../../lib/failure.ts'
import { asFailure } from '../../storage/rows/errors.ts'
import { type Db, type Rows, rowsWithin } from '../../storage/rows/open.ts'
import type { ApiEnv } from './guard.ts'

const KEPT_MS = 24 * 60 * 60 * 1000
const KEY = /^[\x21-\x7e]{1,255}$/

/** Carries an answer of ours out of a transaction that must not be committed. */
class NotKept extends Error {}

interface Asked {
  workspaceId: number
  key: string
  path: string
  bodyHash: string
}

export function idempotency({ now }: { now: () => number }): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const key = c.req.header('idempotency-key')
    if (c.req.method !== 'POST' || key === undefined) return next()
    if (!KEY.test(key)) throw invalid({ 'Idempotency-Key': 'must be 1 to 255 visible ASCII characters' })

    const { workspaceId } = c.get('actor')
    const body = await c.req.text()
    const asked: Asked = {
      workspaceId,
      key,
      path: c.req.path,
      bodyHash: createHash('sha256').update(body).digest('hex'),
    }
    const rows = c.get('rows')
    const kept = await rows
      .write(async (db, onCommit) => {
        const first = await firstAnswer(db, asked, now())
        if (first) return first
        c.set('rows', rowsWithin(rows, db, onCommit))
        await next()
        if (c.res.status >= 500) throw new NotKept()
        await keep(db, asked, { status: c.res.status, body: await c.res.clone().text() })
        return undefined
      })
      .catch((error) => {
        if (!(error instanceof NotKept)) throw error
        return undefined
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

/** @returns what the key was first answered with; undefined when it is ours to answer now. */
async function firstAnswer(db: Db, { workspaceId, key, path, bodyHash }: Asked, now: number) {
  const fresh = { path, body_hash: bodyHash, status: 0, body: '', created_at: now }
  // Taking the key first makes a concurrent twin wait here until this transaction has ended.
  const taken = await db
    .insertInto('idempotency_keys')
    .values({ workspace_id: workspaceId, key, ...fresh })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'key'])
        .doUpdateSet(fresh)
        .where('idempotency_keys.created_at', '<', now - KEPT_MS),
    )
    .returning('key')
    .executeTakeFirst()
  if (taken) return undefined
  return db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
}

async function keep(db: Db, { workspaceId, key }: Asked, answer: { status: number; body: string }) {
  try {
    await db
      .updateTable('idempotency_keys')
      .set(answer)
      .where('workspace_id', '=', workspaceId)
      .where('key', '=', key)
      .execute()
  } catch (error) {
    // As a Failure it is not tried again: the handler has run, and `next` runs once.
    throw asFailure(error)
  }
}

/** Keys older than a day are free again. */
export async function forgetOldKeys(rows: Rows, now: number): Promise<void> {
  await rows.write((db) =>
    // Every workspace's: this is the house's own sweep, asked for by nobody.
    db
      .deleteFrom('idempotency_keys')
      .where('created_at', '<', now - KEPT_MS)
      .execute(),
  )
}
