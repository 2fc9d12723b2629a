// Kills the process that brings a history, at each step of a chunk: after that nothing is doubled and nothing is lost.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { SUITE } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines, type TestServer } from '../../../../tests/support/world.ts'
import { hasPendingImports } from '../../hits/batches/hit-import.ts'
import { createImportRow, type HistorySetup, runHistory, toHistoryRow } from './history.fixture.ts'

const START = Date.UTC(2025, 0, 10)
const CLICKS = 40
const CHUNK = 7

/** Where the process ends. The number of the chunk is 3. */
const STEPS = [
  'its file is written',
  'its transaction runs',
  'its transaction is committed',
  'its file is shown',
] as const

const toRows = (linkId: number) =>
  Array.from({ length: CLICKS }, (_, n) => toHistoryRow(linkId, { at: START + n * 60_000, bot: n % 5 === 0 }))

/** Brings the history in a process of its own, which kills itself. */
async function bringAndDie(
  { dataDir, databaseUrl }: TestServer,
  house: HistorySetup,
  importId: number,
  linkId: number,
  step: (typeof STEPS)[number],
): Promise<void> {
  const script = `
    import { openDatabase } from ${JSON.stringify(join(import.meta.dir, '../../../storage/database/open-database.ts'))}
    import { runHistory } from ${JSON.stringify(join(import.meta.dir, 'history.fixture.ts'))}
    const step = ${JSON.stringify(step)}
    const die = (at) => step === at && process.kill(process.pid, 'SIGKILL')
    const opened = await openDatabase(${JSON.stringify({ dataDir, databaseUrl })})
    let isThird = false
    const db = { engine: opened.engine, read: opened.read, async write(body) {
      const value = await opened.write(async (connection, onCommit) => {
        const stored = await body(connection, onCommit)
        if (isThird) die('its transaction runs')
        return stored
      })
      if (isThird) die('its transaction is committed')
      return value
    } }
    const rows = ${JSON.stringify(toRows(linkId))}
    await runHistory({ db, dataDir: ${JSON.stringify(dataDir)}, workspaceId: ${house.workspaceId} }, ${importId}, rows, {
      maxHits: ${CHUNK},
      before(message) {
        isThird = message.type === 'chunk' && message.chunk.number === 3
        if (isThird) die('its file is written')
      },
      after: () => isThird && die('its file is shown'),
    })`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'inherit', stderr: 'inherit' })
  await child.exited
  expect(child.signalCode).toBe('SIGKILL')
}

onBothEngines('a history whose process is killed', (server) => {
  test.each(SUITE === 'quick' ? STEPS.slice(1, 3) : STEPS)('when %s counts each click once', async (step) => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink()
    const house = { db: server().app.db, dataDir: server().dataDir, workspaceId: ws.id }
    const importId = await createImportRow(house, [[link.id, 50]])
    await bringAndDie(server(), house, importId, link.id, step)
    await runHistory(house, importId, toRows(link.id), { maxHits: CHUNK })
    // Once more: everything is settled.
    await runHistory(house, importId, toRows(link.id), { maxHits: CHUNK })
    await until('the hit worker to take all chunks', () => !hasPendingImports(server().dataDir))
    await server().waitUntilShipped()
    const people = CLICKS - CLICKS / 5
    const { data } = (await ws.api('/analytics/clicks?interval=all')).json
    expect([data.clicks, data.visitors]).toEqual([people, 0])
    const all = (await ws.api('/analytics/clicks?interval=all&class=all')).json.data
    expect(all.clicks).toBe(CLICKS)
    expect((await ws.api(`/links/${link.id}`)).json.data).toMatchObject({
      clicks: people + 10,
      clicksBefore: 10,
    })
    const days = await house.db.read
      .selectFrom('import_days')
      .select(({ fn }) => [fn.sum<number>('clicks').as('clicks'), fn.sum<number>('counted').as('counted')])
      .where('import_id', '=', importId)
      .executeTakeFirstOrThrow()
    expect([Number(days.clicks), Number(days.counted)]).toEqual([CLICKS, people])
  })
})
