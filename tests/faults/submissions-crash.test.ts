// What a sender was told is stored is stored, though the process is killed in the next moment.

import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { startPostgres } from '../support/postgres/postgres-server.ts'
import { atScale } from '../support/scale.ts'
import { until } from '../support/until.ts'
import {
  createFormOverHttp,
  isAcknowledged,
  readMarker,
  type SubmissionMode,
  sendSubmission,
} from './form-submissions.ts'
import { startLoadGenerator } from './load-generator.ts'
import { createInstallation, type Installation, randomMs, type ServerProcess } from './server-process.ts'

const closeLater = closeAfterAll()

const SENDERS = 64
const ROUNDS = { sqlite: atScale({ test: 2, soak: 5 }), postgres: 2 }
/** For a machine that is busy with other things. */
const WITHIN_MS = 60_000

/** Kills the server under load again and again. @returns the form, and every marker that was acknowledged */
async function killAgainAndAgain(installation: Installation, rounds: number) {
  const acknowledged = new Set<string>()
  let form: string | undefined
  for (let round = 0; round < rounds; round++) {
    const server: ServerProcess = await installation.start(BEHIND_PROXY)
    form ??= await createFormOverHttp(server, installation)
    const key = form
    const load = startLoadGenerator(SENDERS, async (number) => {
      const marker = `${round}-${number}`
      const mode: SubmissionMode = number % 2 === 0 ? 'script' : 'native'
      const answer = await sendSubmission(server, key, marker, mode)
      return { ...answer, acknowledged: isAcknowledged(answer, mode) ? marker : undefined }
    })
    closeLater(load.stop)
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

async function readStore(installation: Installation) {
  const db = await openDatabase(installation)
  try {
    const found = await db.read.selectFrom('submissions').select(['fields', 'duplicate_of']).execute()
    const damage =
      db.engine === 'sqlite'
        ? {
            integrity: (await sql`pragma integrity_check`.execute(db.read)).rows,
            foreignKeys: (await sql`pragma foreign_key_check`.execute(db.read)).rows,
          }
        : undefined
    return { markers: found.map(({ fields }) => readMarker(fields)), found, damage }
  } finally {
    await db.close()
  }
}

async function nothingIsLost(installation: Installation, rounds: number) {
  const { form, acknowledged } = await killAgainAndAgain(installation, rounds)
  const { markers, found, damage } = await readStore(installation)
  const there = new Set(markers)
  expect([...acknowledged].filter((marker) => !there.has(marker))).toEqual([])
  expect(there.size).toBe(markers.length)
  expect(found.filter(({ duplicate_of }) => duplicate_of !== null)).toEqual([])
  // Beyond the acknowledged there may be what was in flight at a kill.
  expect(markers.length - acknowledged.size).toBeWithin(0, rounds * SENDERS + 1)
  expect(acknowledged.size).toBeGreaterThan(rounds * SENDERS)

  const server = await installation.start(BEHIND_PROXY)
  expect(isAcknowledged(await sendSubmission(server, form, 'after', 'script'), 'script')).toBe(true)
  const { json } = await server.api(installation.keys[0] as string, `/forms/${form}`)
  expect(json.data.submissions).toBe(markers.length + 1)
  expect(await server.stop()).toBe(0)
  return damage
}

describe('every submission that was acknowledged', () => {
  test(`is there, whole and once, after kill -9 at ${ROUNDS.sqlite} random moments under ${SENDERS} senders`, async () => {
    const installation = await createInstallation(1)
    closeLater(installation.end)
    const damage = await nothingIsLost(installation, ROUNDS.sqlite)
    expect(damage).toEqual({ integrity: [{ integrity_check: 'ok' }], foreignKeys: [] })
  }, 300_000)

  test('is there, whole and once, on PostgreSQL as well', async () => {
    const postgres = await startPostgres({ durable: true })
    closeLater(postgres.end)
    const installation = await createInstallation(1, postgres.url)
    closeLater(installation.end)
    await nothingIsLost(installation, ROUNDS.postgres)
  }, 300_000)
})
