// Idempotency-Key on POST: the first answer is kept in the same transaction as what the request did, so a repeated
// request either finds both or neither.

import { createHash } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { Failure, invalid } from '../../lib/failure.ts'
import { asFailure } from '../../storage/rows/errors.ts'
import { type Rows, rowsWithin } from '../../storage/rows/open.ts'
import type { ApiEnv } from './guard.ts'

const KEPT_MS = 24 * 60 * 60 * 1000
const KEY = /^[\x21-\x7e]{1,255}$/

/** Carries an answer of ours out of a transaction that must not be committed. */
class NotKept extends Error {}

export function idempotency({ now }: { now: () => number }): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const key = c.req.header('idempotency-key')
    if (c.req.method !== 'POST' || key === undefined) return next()
    if (!KEY.test(key)) throw invalid({ 'Idempotency-Key': 'must be 1 to 255 visible ASCII characters' })

    const rows = c.get('rows')
    const { workspaceId } = c.get('actor')
    const path = c.req.path
    const bodyHash = createHash('sha256')
      .update(await c.req.text())
      .digest('hex')
    const replay = await rows
      .write(async (db, onCommit) => {
        // Taking the key first makes a concurrent twin wait here until this transaction has ended.
        const taken = await db
          .insertInto('idempotency_keys')
          .values({
            workspace_id: workspaceId,
            key,
            path,
            body_hash: bodyHash,
            status: 0,
            body: '',
            created_at: now(),
          })
          .onConflict((conflict) =>
            conflict
              .columns(['workspace_id', 'key'])
              .doUpdateSet({ path, body_hash: bodyHash, status: 0, body: '', created_at: now() })
              .where('idempotency_keys.created_at', '<', now() - KEPT_MS),
          )
          .returning('key')
          .executeTakeFirst()
        const mine = db
          .updateTable('idempotency_keys')
          .where('workspace_id', '=', workspaceId)
          .where('key', '=', key)
        if (!taken) {
          return db
            .selectFrom('idempotency_keys')
            .selectAll()
            .where('workspace_id', '=', workspaceId)
            .where('key', '=', key)
            .executeTakeFirstOrThrow()
        }
        c.set('rows', rowsWithin(rows, db, onCommit))
        await next()
        if (c.res.status >= 500) throw new NotKept()
        const answer = { status: c.res.status, body: await c.res.clone().text() }
        // As a Failure it is not tried again: the handler has run, and `next` runs once.
        await mine
          .set(answer)
          .execute()
          .catch((error) => {
            throw asFailure(error)
          })
        return undefined
      })
      .catch((error) => {
        if (!(error instanceof NotKept)) throw error
        return undefined
      })
    if (!replay) return
    if (replay.path !== path || replay.body_hash !== bodyHash) {
      throw new Failure('invalid', 'Idempotency-Key: was used before with another request', {
        errors: { 'Idempotency-Key': 'was used before with another request' },
      })
    }
    return c.body(replay.body, replay.status as 200, {
      'Content-Type': 'application/json',
      'Idempotency-Replayed': 'true',
    })
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
