// Old rows go in short slices, on both engines, and other writes come in between.

import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { onBothEngines } from '../../../tests/support/world.ts'
import { pruneFormAttempts } from '../../features/forms/attempts/attempt-counter.ts'
import { DAY_MS, toUtcDay } from '../../lib/utc-day.ts'
import type { Database } from './open-database.ts'
import { pruneInSlices } from './prune-in-slices.ts'

const NOW = Date.UTC(2026, 5, 1)
const OLD = 350
const FRESH = 5

onBothEngines('rows that have expired', (server) => {
  const countTokens = async (db: Database) => {
    const rows = await db.read.selectFrom('captcha_tokens').select('token').execute()
    return rows.filter(({ token }) => token.startsWith('prune')).length
  }

  test('are deleted at most a hundred at a time, and other writes do not wait for the end', async () => {
    const { db } = server().app
    const tokens = Array.from({ length: OLD + FRESH }, (_, i) => ({
      token: `prune ${i}`,
      expires_at: i < OLD ? NOW - 1 : NOW + 1,
    }))
    await db.write((connection) => connection.insertInto('captcha_tokens').values(tokens).execute())
    const left: number[] = []
    const counting: Database = {
      ...db,
      async write(body) {
        const result = await db.write(body)
        left.push(await countTokens(db))
        return result
      },
    }
    const pruned = pruneInSlices(counting, 'captcha_tokens', sql`token like 'prune%' and expires_at < ${NOW}`)
    await db.write((connection) => connection.selectFrom('workspaces').select('id').limit(1).execute())
    // PostgreSQL runs both at once, in any order.
    if (db.engine === 'sqlite') expect(await countTokens(db)).toBeGreaterThan(FRESH)
    expect(await pruned).toBe(OLD)
    expect(left).toEqual([255, 155, 55, FRESH])
  })

  test('counts of attempts to send a form are kept for 400 days', async () => {
    const { db } = server().app
    const { api } = await server().createWorkspace()
    const { json } = await api('/forms', { method: 'POST', body: { name: 'Contact' } })
    const form = await db.read
      .selectFrom('forms')
      .select('id')
      .where('form_key', '=', json.data.formKey)
      .executeTakeFirstOrThrow()
    const count = { form_id: form.id, outcome: 'stored', field: '', attempts: 1 }
    const days = [402, 401, 400, 399, 0].map((days) => toUtcDay(NOW - days * DAY_MS))
    await db.write((connection) =>
      connection
        .insertInto('form_attempts')
        .values(days.map((day) => ({ ...count, day })))
        .execute(),
    )
    await pruneFormAttempts(db, NOW)
    const kept = await db.read
      .selectFrom('form_attempts')
      .select('day')
      .where('form_id', '=', form.id)
      .orderBy('day')
      .execute()
    expect(kept.map(({ day }) => day)).toEqual(days.slice(2))
  })
})
