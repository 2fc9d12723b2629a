// Every acknowledged submission is stored with its delivery, although the process is killed right after.

import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { startPostgres } from '../support/postgres/postgres-server.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { atScale } from '../support/suite.ts'
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
const ROUNDS = { sqlite: atScale({ full: 2, soak: 5 }), postgres: 2 }
/** Long, because the machine may be busy with other processes. */
const WITHIN_MS = 60_000

/** Nothing listens at the channel's address: its deliveries wait, and none is deleted. */
const OPTIONS = {
  environment: { ...BEHIND_PROXY.environment, WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' },
}

async function createNotifiedForm(server: ServerProcess, installation: Installation) {
  const channel = { type: 'webhook', name: 'Away', url: `http://127.0.0.1:${findFreePort()}/hook` }
  const { status, json } = await server.api(installation.keys[0] as string, '/channels', channel)
  expect(status).toBe(201)
  return createFormOverHttp(server, installation, [json.data.id])
}

/** Kills the server under load several times. @returns the form's key and the markers that were acknowledged */
async function killUnderLoad(installation: Installation, rounds: number) {
  const acknowledged = new Set<string>()
  let form: string | undefined
  for (let round = 0; round < rounds; round++) {
    const server: ServerProcess = await installation.start(OPTIONS)
    form ??= await createNotifiedForm(server, installation)
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
    // All other requests ended without an answer.
    expect([...load.statuses.keys()].sort()).toEqual([0, 200, 303])
    expect(load.acknowledged.length).toBe((load.statuses.get(200) ?? 0) + (load.statuses.get(303) ?? 0))
    for (const marker of load.acknowledged) acknowledged.add(marker)
  }
  return { form: form as string, acknowledged }
}

async function readStore(installation: Installation) {
  const db = await openDatabase(installation)
  try {
    const rows = await db.read
      .selectFrom('submissions')
      .select((e) => [
        'fields',
        'duplicate_of',
        e
          .selectFrom('deliveries')
          .whereRef('deliveries.submission_id', '=', 'submissions.id')
          .select((all) => all.fn.countAll<number>().as('count'))
          .as('deliveries'),
      ])
      .execute()
    const damage =
      db.engine === 'sqlite'
        ? {
            integrity: (await sql`pragma integrity_check`.execute(db.read)).rows,
            foreignKeys: (await sql`pragma foreign_key_check`.execute(db.read)).rows,
          }
        : undefined
    return { markers: rows.map(({ fields }) => readMarker(fields)), rows, damage }
  } finally {
    await db.close()
  }
}

async function expectNothingLost(installation: Installation, rounds: number) {
  const { form, acknowledged } = await killUnderLoad(installation, rounds)
  const { markers, rows, damage } = await readStore(installation)
  const storedMarkers = new Set(markers)
  expect([...acknowledged].filter((marker) => !storedMarkers.has(marker))).toEqual([])
  expect(storedMarkers.size).toBe(markers.length)
  expect(rows.filter(({ duplicate_of }) => duplicate_of !== null)).toEqual([])
  expect(rows.filter(({ deliveries }) => deliveries !== 1)).toEqual([])
  // Submissions that were in flight at a kill may be stored too.
  expect(markers.length - acknowledged.size).toBeWithin(0, rounds * SENDERS + 1)
  expect(acknowledged.size).toBeGreaterThan(rounds * SENDERS)

  const server = await installation.start(OPTIONS)
  expect(isAcknowledged(await sendSubmission(server, form, 'after', 'script'), 'script')).toBe(true)
  const { json } = await server.api(installation.keys[0] as string, `/forms/${form}`)
  expect(json.data.submissions).toBe(markers.length + 1)
  expect(await server.stop()).toBe(0)
  return damage
}

describe('every submission that was acknowledged', () => {
  test(`is stored completely, once and with its delivery after kill -9 at ${ROUNDS.sqlite} random moments under ${SENDERS} senders`, async () => {
    const installation = await createInstallation(1)
    closeLater(installation.end)
    const damage = await expectNothingLost(installation, ROUNDS.sqlite)
    expect(damage).toEqual({ integrity: [{ integrity_check: 'ok' }], foreignKeys: [] })
  }, 300_000)

  test('is stored completely, once and with its delivery on PostgreSQL', async () => {
    const postgres = await startPostgres({ durable: true })
    closeLater(postgres.end)
    const installation = await createInstallation(1, postgres.url)
    closeLater(installation.end)
    await expectNothingLost(installation, ROUNDS.postgres)
  }, 300_000)
})
