// How a server keeps SQLite's log short: what is moved by whom, and when the log is empty.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../../../tests/support/until.ts'
import { openDatabase } from '../open-database.ts'

const MB = 1024 * 1024
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function openServerDatabase(emptyLogEveryMs?: number) {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-log-'))
  ends.push(() => rmSync(dataDir, { recursive: true, force: true }))
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
          .values({
            public_id: name,
            name: name.padEnd(MB, '.'),
            plan: 'free',
            created_at: 0,
            updated_at: 0,
          })
          .execute(),
      ),
  }
}

test('commits are in the database file within seconds, and a long log starts anew', async () => {
  const { writeMegabyte, fileBytes, logBytes, db } = await openServerDatabase()
  const ROUND = 20
  for (let round = 1; round <= 3; round++) {
    for (let i = 0; i < ROUND; i++) await writeMegabyte(`${round}-${i}`)
    await until('the file to have the rows', () => fileBytes() > round * ROUND * MB)
    // The log starts anew when the writer finds that the file has all of it.
    await until('the sizes to be known', () => (db.sizes?.()?.bytes ?? 0) > round * ROUND * MB)
  }
  // Without a new start it would have all three rounds.
  expect(logBytes()).toBeLessThan(2 * ROUND * MB)
})

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
