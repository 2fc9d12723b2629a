// SQLite's log stays short beside a running server: what moves its pages into the file, and when it is emptied.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../../../tests/support/until.ts'
import { openGroupCommit } from '../group-commit.ts'
import { openDatabase } from '../open-database.ts'
import { openSqliteWriter } from '../sqlite.ts'
import { openCheckpointer } from './checkpointer.ts'

const MB = 1024 * 1024
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function newDirectory(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-log-'))
  ends.push(() => rmSync(dataDir, { recursive: true, force: true }))
  return dataDir
}

async function openServerDatabase(emptyLogEveryMs?: number) {
  const dataDir = newDirectory()
  const db = await openDatabase({ dataDir, isSoleServer: true, emptyLogEveryMs })
  ends.push(() => db.close())
  const path = join(dataDir, 'towpath.db')
  return {
    db,
    path,
    fileBytes: () => statSync(path).size,
    logBytes: () => statSync(`${path}-wal`).size,
    /** Stores a megabyte as a setting, which is 256 pages of the log. */
    writeMegabyte: (name: string) =>
      db.write((connection) =>
        connection
          .insertInto('workspaces')
          .values({ public_id: name, name: name.padEnd(MB, '.'), plan: 'free', created_at: 0, updated_at: 0 })
          .execute(),
      ),
  }
}

test('commits are in the database file within seconds, with nobody who writes again', async () => {
  const { writeMegabyte, fileBytes } = await openServerDatabase()
  for (let i = 0; i < 5; i++) await writeMegabyte(`${i}`)
  await until('the file to have the rows', () => fileBytes() > 5 * MB)
})

test('a log that is written all the time starts anew when it is long', async () => {
  const path = join(newDirectory(), 'towpath.db')
  const writer = await openSqliteWriter(path, 0)
  writer.run('PRAGMA wal_autocheckpoint=0')
  writer.run('create table click_marks (node text, batch integer)')
  const queue = openGroupCommit(writer)
  const options = { path, pauseWrites: queue.pause, everyMs: 10, restartPages: 500 }
  const checkpointer = openCheckpointer(options)
  let longest = 0
  for (let written = 0; written < 40 * MB; written += MB / 8) {
    const values = { node: `${written}`.padEnd(MB / 8, '.'), batch: 1 }
    await queue.write((connection) => connection.insertInto('click_marks').values(values).execute())
    checkpointer.noteCommit()
    longest = Math.max(longest, statSync(`${path}-wal`).size)
  }
  await queue.close()
  await checkpointer.close()
  writer.close()
  expect(longest).toBeLessThan(20 * MB)
}, 60_000)

test('the log is emptied, also after another process has read from it for long', async () => {
  const { path, db, writeMegabyte, logBytes } = await openServerDatabase(200)
  await writeMegabyte('first')
  await until('the log to be empty', () => logBytes() === 0)

  const reading = `
    const { Database } = require('bun:sqlite')
    const database = new Database(process.argv[1], { readonly: true })
    database.run('BEGIN')
    console.log(database.query('select count(*) as n from workspaces').get().n)
    process.stdin.once('data', () => process.exit())`
  await writeMegabyte('second')
  const reader = Bun.spawn([process.execPath, '-e', reading, path], { stdin: 'pipe', stdout: 'pipe' })
  ends.push(() => reader.kill())
  const { value } = await reader.stdout.getReader().read()
  const rows = Number(new TextDecoder().decode(value))
  // Writes go on meanwhile, and are read at once.
  for (let i = 0; i < 5; i++) await writeMegabyte(`beside-${i}`)
  const { n } = await db.read
    .selectFrom('workspaces')
    .select((e) => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  expect(n).toBe(rows + 5)
  expect(logBytes()).toBeGreaterThan(5 * MB)
  reader.stdin.write('end\n')
  reader.stdin.flush()
  await reader.exited
  await until('the log to be empty again', () => logBytes() === 0)
}, 30_000)

test('the sizes tell of free pages', async () => {
  const { db, path, writeMegabyte } = await openServerDatabase(200)
  await writeMegabyte('gone')
  await db.write((connection) => connection.deleteFrom('workspaces').execute())
  await until('the free pages to be known', () => (db.sizes?.()?.freeBytes ?? 0) > MB / 2)
  const database = new Database(path, { readonly: true })
  const { page_count } = database.query('PRAGMA page_count').get() as { page_count: number }
  database.close()
  expect(db.sizes?.()?.bytes).toBe(page_count * 4096)
})
