import { afterEach, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRows, type RowStore } from '../../storage/rows/open.ts'
import { ensureSalts } from './salts.ts'

const at = (time: string) => Date.parse(`2026-05-${time}Z`)
const open: { rows: RowStore; dir: string }[] = []
async function rowsForTest() {
  const dir = await mkdtemp(join(tmpdir(), 'towpath-salts-'))
  const rows = await openRows({ dataDir: dir })
  open.push({ rows, dir })
  return rows
}
afterEach(async () => {
  for (const { rows, dir } of open.splice(0)) {
    await rows.close()
    await rm(dir, { recursive: true })
  }
})

test('a day has one random salt, made before the day begins and destroyed two hours after it', async () => {
  const rows = await rowsForTest()
  const days = async (time: string) => (await ensureSalts({ rows, now: at(time) })).map(({ day }) => day)
  const first = await ensureSalts({ rows, now: at('10T12:00:00') })
  expect(first).toHaveLength(1)
  expect(first[0]?.salt).toMatch(/^[0-9a-f]{64}$/)
  expect(await ensureSalts({ rows, now: at('10T22:59:00') })).toEqual(first)
  expect(await days('10T23:00:00')).toEqual(['2026-05-10', '2026-05-11'])
  expect(await days('11T01:59:00')).toEqual(['2026-05-10', '2026-05-11'])
  expect(await days('11T02:00:00')).toEqual(['2026-05-11'])
})

test('after a long pause all old salts go at once', async () => {
  const rows = await rowsForTest()
  await ensureSalts({ rows, now: at('01T23:30:00') })
  expect((await ensureSalts({ rows, now: at('20T00:30:00') })).map(({ day }) => day)).toEqual(['2026-05-20'])
})

test('processes that begin at once agree', async () => {
  const rows = await rowsForTest()
  const all = await Promise.all(
    Array.from({ length: 8 }, () => ensureSalts({ rows, now: at('10T12:00:00') })),
  )
  for (const salts of all) expect(salts).toEqual(all[0] ?? [])
})
