// Copies a SQLite database with every table filled into a real PostgreSQL.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fillTables } from '../../../../tests/support/fill-tables.ts'
import { migratedDatabase } from '../../../../tests/support/migrated-database.ts'
import { createTestDatabase } from '../../../../tests/support/postgres/postgres-server.ts'
import type { Connection } from '../database.ts'
import { openDatabase } from '../open-database.ts'
import { openCopySource } from './copy-source.ts'
import { copyTable, digestSource, digestTarget, runSql } from './copy-table.ts'
import { emptyTables, findFilledTable, openCopyTarget } from './copy-target.ts'
import { listSourceTables, TABLES_LEFT_OUT } from './source-tables.ts'

const dir = mkdtempSync(join(tmpdir(), 'towpath-copy-'))
const path = join(dir, 'towpath.db')
let counts: Map<string, number>
let target: Connection

beforeAll(async () => {
  await (await openDatabase({ dataDir: dir })).close()
  const database = new Database(path, { strict: true })
  database.run('PRAGMA foreign_keys=ON')
  counts = fillTables(database, 40)
  // An id that was used, and whose row is deleted.
  database.run('delete from users where id = (select max(id) from users)')
  counts.set('users', (counts.get('users') ?? 0) - 1)
  database.close()
  target = await openCopyTarget((await migratedDatabase()).url)
}, 120_000)
afterAll(async () => {
  await target?.destroy()
  rmSync(dir, { recursive: true, force: true })
})

async function copyAll() {
  const source = openCopySource(path)
  const tables = listSourceTables(source)
  for (const table of tables) await copyTable(source, target, table, { onCopied: async () => {} })
  return { source, tables }
}

test('every table of a database has rows to copy', async () => {
  const source = openCopySource(path)
  const names = listSourceTables(source).map(({ name }) => name)
  const stored = await runSql(
    target,
    `select table_name from information_schema.tables
     where table_schema = current_schema() and table_name not like 'kysely%'`,
  )
  const expected = stored.map((row) => String(row.table_name)).filter((name) => !(name in TABLES_LEFT_OUT))
  expect(names.toSorted()).toEqual(expected.toSorted())
  for (const name of names) expect([name, counts.get(name)]).not.toEqual([name, 0])
  source.close()
})

test('a copy has the rows of its source, value by value', async () => {
  const { source, tables } = await copyAll()
  for (const table of tables) {
    const digest = await digestSource(source, table)
    expect(digest.rows).toBeGreaterThan(0)
    expect([table.name, await digestTarget(target, table)]).toEqual([table.name, digest])
  }
  source.close()
})

test('the next id is above every id that was ever used', async () => {
  const source = openCopySource(path)
  for (const { name, lastId } of listSourceTables(source)) {
    if (lastId === undefined) continue
    expect(lastId).toBeGreaterThan(0)
    const [row] = await runSql(target, `select nextval(pg_get_serial_sequence('${name}', 'id')) as next`)
    expect([name, row?.next]).toEqual([name, lastId + 1])
  }
  source.close()
})

test('a changed, missing or added row changes the digest', async () => {
  const source = openCopySource(path)
  const tables = listSourceTables(source)
  const links = tables.find(({ name }) => name === 'links')
  if (!links) throw new Error('links are a table')
  const before = await digestTarget(target, links)
  for (const change of [
    `update links set title = coalesce(title, '') || ' ' where id = 1`,
    'update links set clicks = clicks + 1 where id = 1',
    'delete from links where id = 1',
  ]) {
    await runSql(target, change)
    expect((await digestTarget(target, links)).hash).not.toBe(before.hash)
  }
  source.close()
})

test('tables can be emptied and copied again, the audit log too', async () => {
  const source = openCopySource(path)
  const tables = listSourceTables(source)
  expect(await findFilledTable(target)).toBeDefined()
  await emptyTables(target, tables)
  expect(await findFilledTable(target)).toBeUndefined()
  source.close()
  await copyAll().then(({ source }) => source.close())
  await expect(runSql(target, 'update audit_events set action = action')).rejects.toThrow('append-only')
})

test('a table whose copy fails has no rows', async () => {
  const source = openCopySource(path)
  const tables = listSourceTables(source)
  await emptyTables(target, tables)
  const [table] = tables
  if (!table) throw new Error('there are tables')
  const onCopied = () => Promise.reject(new Error('the disk is full'))
  await expect(copyTable(source, target, table, { onCopied })).rejects.toThrow('the disk is full')
  expect(await findFilledTable(target)).toBeUndefined()
  source.close()
})

test('bytes, and keys of several columns, are the same on both sides', async () => {
  const boats = new Database(join(dir, 'boats.db'), { strict: true })
  boats.run('create table boats (name text, number integer, hull blob, primary key (number, name))')
  const insert = boats.query('insert into boats values (?, ?, ?)')
  for (let i = 0; i < 300; i++)
    insert.run(`b${i % 7}é`, (i * 37) % 100, new Uint8Array([i % 256, 0, 92, 255]))
  insert.run('none', 1, null)
  await runSql(
    target,
    'create table boats (name text collate "C", number bigint, hull bytea, primary key (number, name))',
  )
  const [table] = listSourceTables(boats)
  if (!table) throw new Error('boats are a table')
  await copyTable(boats, target, table, { onCopied: async () => {} })
  expect((await digestTarget(target, table)).rows).toBe(301)
  expect(await digestTarget(target, table)).toEqual(await digestSource(boats, table))
  await runSql(target, String.raw`update boats set hull = '\\x00' where name = 'none'`)
  expect(await digestTarget(target, table)).not.toEqual(await digestSource(boats, table))
  await runSql(target, 'drop table boats')
  boats.close()
})

test('a database of another program is refused, and stays as it is', async () => {
  const { url } = await createTestDatabase()
  const client = new (await import('pg')).default.Client({ connectionString: url })
  await client.connect()
  await client.query('create table boats (id int)')
  await expect(openCopyTarget(url)).rejects.toThrow('has the table boats, which is not of Towpath')
  const { rows } = await client.query("select count(*)::int as n from pg_tables where schemaname = 'public'")
  expect(rows).toEqual([{ n: 1 }])
  await client.end()
})
