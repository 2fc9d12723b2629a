import { afterEach, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DatabaseHandle, openDatabase } from '../../storage/database/open-database.ts'
import { ensureSalts } from './ensure-salts.ts'

const at = (time: string) => Date.parse(`2026-05-${time}Z`)
const open: { db: DatabaseHandle; dir: string }[] = []
async function rowsForTest() {
  const dir = await mkdtemp(join(tmpdir(), 'towpath-salts-'))
  const db = await openDatabase({ dataDir: dir })
  open.push({ db, dir })
  return db
}
afterEach(async () => {
  for (const { db, dir } of open.splice(0)) {
    await db.close()
    await rm(dir, { recursive: true })
  }
})

test('creates one random salt for each day, before the day begins, and destroys it two hours after the day', async () => {
  const db = await rowsForTest()
  const days = async (time: string) => (await ensureSalts({ db, now: at(time) })).map(({ day }) => day)
  const first = await ensureSalts({ db, now: at('10T12:00:00') })
  expect(first).toHaveLength(1)
  expect(first[0]?.salt).toMatch(/^[0-9a-f]{64}$/)
  expect(await ensureSalts({ db, now: at('10T17:59:00') })).toEqual(first)
  expect(await days('10T18:00:00')).toEqual(['2026-05-10', '2026-05-11'])
  expect(await days('11T01:59:00')).toEqual(['2026-05-10', '2026-05-11'])
  expect(await days('11T02:00:00')).toEqual(['2026-05-11'])
})

test('destroys all old salts at once after a long pause', async () => {
  const db = await rowsForTest()
  await ensureSalts({ db, now: at('01T23:30:00') })
  expect((await ensureSalts({ db, now: at('20T00:30:00') })).map(({ day }) => day)).toEqual(['2026-05-20'])
})

test('gives processes that start at the same time the same salt', async () => {
  const db = await rowsForTest()
  const all = await Promise.all(Array.from({ length: 8 }, () => ensureSalts({ db, now: at('10T12:00:00') })))
  for (const salts of all) expect(salts).toEqual(all[0] ?? [])
})
