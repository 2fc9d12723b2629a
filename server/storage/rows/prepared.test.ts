// Queries made once answer as those that are made anew, on either engine, whatever their values are.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase } from '../../../tests/support/postgres.ts'
import { openRows, type RowStore } from './open.ts'
import { prepared } from './prepared.ts'

const insert = prepared((db, values: { public_id: string; name: string; plan: string; at: number }) =>
  db.insertInto('workspaces').values({
    public_id: values.public_id,
    name: values.name,
    plan: values.plan,
    created_at: values.at,
    updated_at: values.at,
  }),
)
const named = prepared((db, { one, other, after }: { one: string; other: string; after: number }) =>
  db
    .selectFrom('workspaces')
    .select(['public_id', 'name'])
    .where('name', 'in', [one, other])
    .where('created_at', '>', after)
    .where('plan', '=', 'pro')
    .orderBy('public_id'),
)

describe.each(['sqlite', 'postgres'])('a prepared query (%s)', (engine) => {
  let dataDir: string
  let database: Awaited<ReturnType<typeof freshDatabase>> | undefined
  let rows: RowStore
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'towpath-prepared-'))
    database = engine === 'postgres' ? await freshDatabase() : undefined
    rows = await openRows({ dataDir, databaseUrl: database?.url })
  }, 60_000)
  afterAll(async () => {
    await rows?.close()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const add = (public_id: string, name: string, at: number) =>
    rows.write((db) => insert(db, { public_id, name, plan: 'pro', at }))

  test('has the values of its own call, within writes and outside of them', async () => {
    const hostile = `'; drop table workspaces; -- "?1 $1`
    await Promise.all([add('a', 'x', 1), add('b', hostile, 2), add('c', 'z', 3)])
    expect(await named(rows.read, { one: 'x', other: 'z', after: 0 })).toEqual([
      { public_id: 'a', name: 'x' },
      { public_id: 'c', name: 'z' },
    ])
    expect(await named(rows.read, { one: 'x', other: 'z', after: 1 })).toHaveLength(1)
    expect(await named(rows.read, { one: hostile, other: hostile, after: 0 })).toEqual([
      { public_id: 'b', name: hostile },
    ])
    await rows.write(async (db) => {
      await insert(db, { public_id: 'd', name: 'within', plan: 'pro', at: 4 })
      expect(await named(db, { one: 'within', other: '', after: 0 })).toHaveLength(1)
    })
  })

  test('without one of its values is refused, not run with something else', async () => {
    await add('e', 'whole', 1)
    const half = { public_id: 'f', name: 'half', at: 1 } as never
    await expect(rows.write((db) => insert(db, half))).rejects.toThrow('has no value for plan')
    expect(await named(rows.read, { one: 'half', other: 'whole', after: 0 })).toHaveLength(1)
  })
})
