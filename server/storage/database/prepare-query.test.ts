// Prepared queries answer like queries that are built for each run, on both engines and with all values.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createTestDatabase } from '../../../tests/support/postgres/postgres-server.ts'
import { type DatabaseHandle, openDatabase } from './open-database.ts'
import { isOneOf, prepareInsert, prepareInserts, prepareQuery } from './prepare-query.ts'

const insert = prepareQuery(
  (connection, values: { public_id: string; name: string; plan: string; at: number }) =>
    connection.insertInto('workspaces').values({
      public_id: values.public_id,
      name: values.name,
      plan: values.plan,
      created_at: values.at,
      updated_at: values.at,
    }),
)
const named = prepareQuery(
  (connection, { one, other, after }: { one: string; other: string; after: number }) =>
    connection
      .selectFrom('workspaces')
      .select(['public_id', 'name'])
      .where('name', 'in', [one, other])
      .where('created_at', '>', after)
      .where('plan', '=', 'pro')
      .orderBy('public_id'),
)

const insertOne = prepareInsert((connection, values: { public_id: string; at: number }) =>
  connection.insertInto('workspaces').values({
    public_id: values.public_id,
    name: "it's a constant",
    plan: 'free',
    created_at: values.at,
    updated_at: values.at,
  }),
)
const insertSeveral = prepareInserts((connection, rows: { public_id: string; created_at: number }[]) =>
  connection
    .insertInto('workspaces')
    .values(rows.map((row) => ({ ...row, name: 'one of several', plan: 'free', updated_at: 7 }))),
)
const listed = prepareQuery((connection, { ids }: { ids: number[] }) =>
  connection
    .selectFrom('workspaces')
    .select('public_id')
    .where(isOneOf(connection, 'id', ids))
    .orderBy('id'),
)

describe.each(['sqlite', 'postgres'])('a prepared query (%s)', (engine) => {
  let dataDir: string
  let database: Awaited<ReturnType<typeof createTestDatabase>> | undefined
  let db: DatabaseHandle
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'towpath-prepared-'))
    database = engine === 'postgres' ? await createTestDatabase() : undefined
    db = await openDatabase({ dataDir, databaseUrl: database?.url })
  }, 120_000)
  afterAll(async () => {
    await db?.close()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const add = (public_id: string, name: string, at: number) =>
    db.write((connection) => insert(connection, { public_id, name, plan: 'pro', at }))

  test('uses the values of its own call, inside and outside of writes', async () => {
    const hostile = `'; drop table workspaces; -- "?1 $1`
    await Promise.all([add('a', 'x', 1), add('b', hostile, 2), add('c', 'z', 3)])
    expect(await named(db.read, { one: 'x', other: 'z', after: 0 })).toEqual([
      { public_id: 'a', name: 'x' },
      { public_id: 'c', name: 'z' },
    ])
    expect(await named(db.read, { one: 'x', other: 'z', after: 1 })).toHaveLength(1)
    expect(await named(db.read, { one: hostile, other: hostile, after: 0 })).toEqual([
      { public_id: 'b', name: hostile },
    ])
    await db.write(async (connection) => {
      await insert(connection, { public_id: 'd', name: 'within', plan: 'pro', at: 4 })
      expect(await named(connection, { one: 'within', other: '', after: 0 })).toHaveLength(1)
    })
  })

  test('is refused when a value is missing', async () => {
    await add('e', 'whole', 1)
    const half = { public_id: 'f', name: 'half', at: 1 } as never
    await expect(db.write((connection) => insert(connection, half))).rejects.toThrow('has no value for plan')
    expect(await named(db.read, { one: 'half', other: 'whole', after: 0 })).toHaveLength(1)
  })

  test('says the id of an inserted row, and finds rows by a list of any length', async () => {
    const ids: number[] = []
    for (const public_id of ['i1', 'i2', 'i3'])
      ids.push(await db.write((connection) => insertOne(connection, { public_id, at: 5 })))
    expect(await listed(db.read, { ids: ids.slice(1) })).toEqual([{ public_id: 'i2' }, { public_id: 'i3' }])
    expect(await listed(db.read, { ids: [] })).toEqual([])
    expect(await named(db.read, { one: "it's a constant", other: '', after: 0 })).toEqual([])
  })

  test('inserts more rows than one statement takes, each with its own values', async () => {
    const rows = Array.from({ length: 57 }, (_, n) => ({ public_id: `s${n}`, created_at: n }))
    await db.write((connection) => insertSeveral(connection, rows))
    const stored = await db.read
      .selectFrom('workspaces')
      .select(['public_id', 'created_at'])
      .where('name', '=', 'one of several')
      .orderBy('created_at')
      .execute()
    expect(stored).toEqual(rows)
  })
})

test('a prepared query whose text has a question mark of its own is refused on SQLite', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-prepared-'))
  const db = await openDatabase({ dataDir })
  const asks = prepareQuery((connection, { at }: { at: number }) =>
    connection.selectFrom('workspaces').select(sql<string>`'why?'`.as('text')).where('created_at', '=', at),
  )
  await expect(asks(db.read, { at: 1 })).rejects.toThrow('question mark of its own')
  await db.close()
  rmSync(dataDir, { recursive: true, force: true })
})
