// Files for browsers, kept in rows for servers of other releases.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migratedDatabase } from '../../tests/support/migrated-database.ts'
import { DAY_MS } from '../lib/utc-day.ts'
import { createBuiltFileStore } from './built-file-store.ts'
import { type Connection, type DatabaseHandle, openDatabase } from './database/open-database.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'towpath-files-'))
let db: DatabaseHandle
let now = Date.UTC(2026, 5, 11, 12)
beforeAll(async () => {
  db = await openDatabase({ dataDir, databaseUrl: (await migratedDatabase()).url })
})
afterAll(async () => {
  await db?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const openStore = () => createBuiltFileStore({ db, now: () => now })
const toFile = (name: string, text = name) => ({ name, gzip: Bun.gzipSync(text) })
const listNames = async () =>
  (await db.read.selectFrom('built_files').select('name').orderBy('name').execute()).map(({ name }) => name)
const findText = async (store: ReturnType<typeof openStore>, name: string) => {
  const file = await store.find('dashboard', name)
  return file && new TextDecoder().decode(file.content)
}

test('many servers keep the same files at once, and another one finds each of them', async () => {
  const files = Array.from({ length: 50 }, (_, n) => toFile(`main-${n}.js`))
  const shuffled = [files, files.toReversed(), files.toSpliced(0, 25), files]
  await Promise.all(shuffled.map((each) => openStore().keep('dashboard', each)))
  expect(await listNames()).toEqual(files.map(({ name }) => name).sort())
  const other = openStore()
  const found = await Promise.all(files.map(({ name }) => findText(other, name)))
  expect(found).toEqual(files.map(({ name }) => name))
})

test('finds a file that was kept a moment after it was missed', async () => {
  const store = openStore()
  expect(await findText(store, 'late.js')).toBeUndefined()
  await openStore().keep('dashboard', [toFile('late.js')])
  expect(await findText(store, 'late.js')).toBe('late.js')
  expect(await store.find('snippet', 'late.js')).toBeUndefined()
})

test('any number of made-up names costs one look at the names', async () => {
  let queries = 0
  const read = {
    selectFrom(table: 'built_files') {
      queries++
      return db.read.selectFrom(table)
    },
  } as Connection
  const store = createBuiltFileStore({ db: { ...db, read }, now: () => now })
  const misses = Array.from({ length: 1_000 }, (_, n) => store.find('dashboard', `none-${n}.js`))
  expect(new Set(await Promise.all(misses))).toEqual(new Set([undefined]))
  expect(queries).toBe(1)
})

test('bounds the memory of files that it has found', async () => {
  const names = Array.from({ length: 12 }, (_, n) => `big-${n}.js`)
  const text = 'x'.repeat(1024 * 1024)
  await openStore().keep(
    'dashboard',
    names.map((name) => toFile(name, text)),
  )
  const store = openStore()
  for (const name of names) await findText(store, name)
  await db.write((connection) => connection.deleteFrom('built_files').execute())
  const kept = await Promise.all(names.map(async (name) => (await findText(store, name)) !== undefined))
  expect(kept).toEqual([...Array(5).fill(false), ...Array(7).fill(true)])
})

test('is rid of files that no server has had for 30 days, and keeps those of one that runs', async () => {
  await db.write((connection) => connection.deleteFrom('built_files').execute())
  const [running, ended] = [openStore(), openStore()]
  await running.keep('dashboard', [toFile('new.js'), toFile('both.js')])
  await ended.keep('dashboard', [toFile('old.js'), toFile('both.js')])
  now += 29 * DAY_MS
  await running.prune()
  expect(await listNames()).toEqual(['both.js', 'new.js', 'old.js'])
  now += 2 * DAY_MS
  await running.prune()
  expect(await listNames()).toEqual(['both.js', 'new.js'])
})

test('keeps later what it could not keep while the database was away', async () => {
  let isAway = true
  const write: DatabaseHandle['write'] = (body) =>
    isAway ? Promise.reject(new Error('away')) : db.write(body)
  const store = createBuiltFileStore({ db: { ...db, write }, now: () => now })
  await expect(store.keep('dashboard', [toFile('waiting.js')])).rejects.toThrow('away')
  isAway = false
  await store.prune()
  expect(await findText(openStore(), 'waiting.js')).toBe('waiting.js')
})
