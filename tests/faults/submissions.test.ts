// What a sender was told is stored is stored, though the process is killed in the next moment.

import { afterAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { openRows } from '../../server/storage/rows/open.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/server.ts'
import { acknowledges, BEHIND_PROXY, type Mode, makeForm, markerOf, send } from './forms.ts'
import { startLoad } from './load.ts'
import { type House, makeHouse, type RealServer, randomMs } from './real-server.ts'

const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

const SENDERS = 64
/** For a machine that is busy with other things. */
const WITHIN_MS = 60_000

/** Kills the server under load again and again. @returns the form, and every marker that was acknowledged */
async function killAgainAndAgain(house: House, rounds: number) {
  const acknowledged = new Set<string>()
  let form: string | undefined
  for (let round = 0; round < rounds; round++) {
    const server: RealServer = await house.start({ environment: BEHIND_PROXY })
    form ??= await makeForm(server, house)
    const key = form
    const load = startLoad(SENDERS, async (number) => {
      const marker = `${round}-${number}`
      const mode: Mode = number % 2 === 0 ? 'script' : 'native'
      const answer = await send(server, key, marker, mode)
      return { ...answer, acknowledged: acknowledges(answer, mode) ? marker : undefined }
    })
    ends.push(load.stop)
    await until('the first submissions', () => load.acknowledged.length > SENDERS, WITHIN_MS)
    await Bun.sleep(randomMs(0, 300))
    await server.kill()
    await load.stop()
    // Nobody was told anything else: the others had no answer at all.
    expect([...load.statuses.keys()].sort()).toEqual([0, 200, 303])
    expect(load.acknowledged.length).toBe((load.statuses.get(200) ?? 0) + (load.statuses.get(303) ?? 0))
    for (const marker of load.acknowledged) acknowledged.add(marker)
  }
  return { form: form as string, acknowledged }
}

async function readStore(house: House) {
  const rows = await openRows(house)
  try {
    const found = await rows.read.selectFrom('submissions').select(['fields', 'duplicate_of']).execute()
    const damage =
      rows.engine === 'sqlite'
        ? {
            integrity: (await sql`pragma integrity_check`.execute(rows.read)).rows,
            foreignKeys: (await sql`pragma foreign_key_check`.execute(rows.read)).rows,
          }
        : undefined
    return { markers: found.map(({ fields }) => markerOf(fields)), found, damage }
  } finally {
    await rows.close()
  }
}

async function nothingIsLost(house: House, rounds: number) {
  const { form, acknowledged } = await killAgainAndAgain(house, rounds)
  const { markers, found, damage } = await readStore(house)
  const there = new Set(markers)
  expect([...acknowledged].filter((marker) => !there.has(marker))).toEqual([])
  expect(there.size).toBe(markers.length)
  expect(found.filter(({ duplicate_of }) => duplicate_of !== null)).toEqual([])
  // Beyond the acknowledged there may be what was in flight at a kill.
  expect(markers.length - acknowledged.size).toBeWithin(0, rounds * SENDERS + 1)
  expect(acknowledged.size).toBeGreaterThan(rounds * SENDERS)

  const server = await house.start({ environment: BEHIND_PROXY })
  expect(acknowledges(await send(server, form, 'after', 'script'), 'script')).toBe(true)
  const { json } = await server.api(house.keys[0] as string, `/forms/${form}`)
  expect(json.data.submissions).toBe(markers.length + 1)
  expect(await server.stop()).toBe(0)
  return damage
}

describe('every submission that was acknowledged', () => {
  test('is there, whole and once, after kill -9 at five random moments under 64 senders', async () => {
    const house = await makeHouse(1)
    ends.push(house.end)
    const damage = await nothingIsLost(house, 5)
    expect(damage).toEqual({ integrity: [{ integrity_check: 'ok' }], foreignKeys: [] })
  }, 300_000)

  test('is there, whole and once, on PostgreSQL as well', async () => {
    const postgres = await startPostgres({ durable: true })
    ends.push(postgres.end)
    const house = await makeHouse(1, postgres.url)
    ends.push(house.end)
    await nothingIsLost(house, 2)
  }, 300_000)
})
