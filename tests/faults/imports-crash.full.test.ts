// An import goes on where it was, makes nothing twice and loses nothing, although the server or the process that reads the
// file is killed in the middle of each stage.

import { describe, expect, test } from 'bun:test'
import { startClickHouse } from '../support/clickhouse/clickhouse-server.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { type ShlinkFiles, writeShlinkFiles } from '../support/imports/shlink-files.ts'
import {
  call,
  hasEnded,
  type ImportAnswer,
  type ImportTarget,
  sendImport,
  undoImport,
  waitForEnd,
  waitForProgress,
} from '../support/imports/upload-client.ts'
import { startPostgres } from '../support/postgres/postgres-server.ts'
import { listReaderProcesses } from '../support/processes/worker-processes.ts'
import { createRandomMs } from '../support/random.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createInstallation, type Installation, type ServerProcess } from './server-process.ts'

const randomMs = createRandomMs('kills of an import')

const closeLater = closeAfterAll()

const LINKS = atScale({ full: 800, soak: 20_000 })
const VISITS = atScale({ full: 12, soak: 25 })
/** Kills of the server in each stage. */
const KILLS = atScale({ full: 1, soak: 4 })
const STAGES = ['check', 'links', 'clicks']

interface Setting {
  installation: Installation
  environment: Record<string, string>
}

const ENGINES: { name: string; runs: boolean; open: () => Promise<Setting> }[] = [
  {
    name: 'SQLite and DuckDB',
    runs: true,
    open: async () => ({ installation: await createInstallation(1), environment: {} }),
  },
  {
    name: 'PostgreSQL and ClickHouse',
    runs: atScale({ full: false, soak: true }),
    open: async () => {
      const [postgres, clickHouse] = await Promise.all([startPostgres({ durable: true }), startClickHouse()])
      closeLater(postgres.end)
      closeLater(clickHouse.end)
      return {
        installation: await createInstallation(1, postgres.url),
        environment: { CLICKHOUSE_URL: clickHouse.url },
      }
    },
  },
]

const toTarget = ({ origin }: ServerProcess, { keys: [key = ''] }: Installation): ImportTarget => ({
  origin,
  key,
})

async function expectExactly(target: ImportTarget, { people, countries }: ShlinkFiles, done: ImportAnswer) {
  expect(done).toMatchObject({ status: 'done', problem: null, created: LINKS, skipped: 0, failed: 0 })
  const { json: links } = await call(target, '/links?limit=1')
  expect(links.total).toBe(LINKS)
  const clicks = [...people.values()].reduce((sum, count) => sum + count, 0)
  const counts = async (query: string) => {
    // A key may send 300 requests a minute.
    await Bun.sleep(250)
    const { json } = await call(target, `/analytics/clicks?interval=all&${query}`)
    return json.data
  }
  await until('all clicks in analytics', async () => (await counts(''))?.clicks >= clicks)
  expect(await counts('')).toMatchObject({ clicks, visitors: 0 })
  expect((await counts('class=all')).clicks).toBe(LINKS * VISITS)
  const byCountry = (await counts('limit=1000&groupBy=country')) as { country: string; clicks: number }[]
  expect(byCountry.map((row) => row.clicks).sort()).toEqual([...countries.values()].sort())
  const byLink = (await counts('limit=1000&groupBy=slug')) as { slug: string; clicks: number }[]
  expect(byLink.filter(({ slug, clicks }) => people.get(slug) !== clicks)).toEqual([])
  await until('the counters of the links', async () => {
    await Bun.sleep(250)
    const { json } = await call(target, '/links?limit=100&sort=clicks&order=asc')
    const rows = (json.data ?? []) as { slug: string; clicks: number; title: string; tags: unknown[] }[]
    return (
      rows.length > 0 &&
      rows.every(
        ({ slug, clicks, tags }) =>
          clicks === (people.get(slug) ?? 0) && tags.length === (Number(slug.slice(5)) % 2 ? 1 : 2),
      )
    )
  })
}

/** An import with clicks that has been taken, and that may have begun. */
async function beginImport(open: (typeof ENGINES)[number]['open']) {
  const { installation, environment } = await open()
  closeLater(installation.end)
  const files = writeShlinkFiles(LINKS, VISITS)
  const server = await installation.start({ environment })
  const target = toTarget(server, installation)
  const upload = { fields: { source: 'shlink' }, file: files.links, clicks: files.visits }
  const { status, json, text } = await sendImport(target, upload)
  expect([status, text]).toEqual([202, text])
  return { installation, environment, files, upload, server, target, id: (json.data as ImportAnswer).id }
}

describe.each(ENGINES)('an import on $name', ({ runs, open }) => {
  test.skipIf(!runs)(
    'whose server is killed in each stage goes on there, and repeats nothing',
    async () => {
      const { installation, environment, files, upload, id, ...begun } = await beginImport(open)
      let { server, target } = begun
      const reached = new Set<string>()
      for (const stage of STAGES) {
        for (let kill = 0; kill < KILLS; kill++) {
          const found = await waitForProgress(
            target,
            id,
            (now) => hasEnded(now) || STAGES.indexOf(now.stage) >= STAGES.indexOf(stage),
          )
          reached.add(found.stage)
          await Bun.sleep(randomMs(0, 150))
          await server.kill()
          server = await installation.start({ environment })
          target = toTarget(server, installation)
        }
      }
      expect(reached.size).toBeGreaterThan(1)
      await expectExactly(target, files, await waitForEnd(target, id))

      // The same file again changes nothing, and the undo takes all of it away.
      const again = await sendImport(target, upload)
      expect(await waitForEnd(target, again.json.data.id)).toMatchObject({
        status: 'done',
        created: 0,
        skipped: LINKS,
        failed: 0,
        clicks: 0,
      })
      await undoImport(target, id)
      expect((await call(target, '/links?limit=1')).json.total).toBe(0)
      const { json: left } = await call(target, '/analytics/clicks?interval=all&class=all')
      expect(left.data).toMatchObject({ clicks: 0, visitors: 0 })
      expect(await server.stop()).toBe(0)
    },
    600_000,
  )

  test.skipIf(!runs)(
    'whose reading process is killed goes on with a new one',
    async () => {
      const { server, target, files, id } = await beginImport(open)
      // The second death ends an import.
      await killReader(server, randomMs(0, 300))
      await expectExactly(target, files, await waitForEnd(target, id))
      expect(await server.stop()).toBe(0)
    },
    600_000,
  )

  test.skipIf(!runs)(
    'whose reading process is killed under two servers fails, and an ordinary stop does not count',
    async () => {
      const { installation, environment, id, ...begun } = await beginImport(open)
      let { server, target } = begun
      const restart = async () => {
        expect(await server.stop()).toBe(0)
        server = await installation.start({ environment })
        target = toTarget(server, installation)
      }
      await killReader(server, 0)
      for (let stop = 0; stop < 3; stop++) {
        await findReader(server)
        await restart()
      }
      await killReader(server, 0)
      expect(await waitForEnd(target, id)).toMatchObject({
        status: 'failed',
        problem:
          'The file could not be read: twice it took too long at one place, or too much memory. Split the file, and try again.',
      })
      expect(await server.stop()).toBe(0)
    },
    600_000,
  )
})

const findReader = (server: ServerProcess) =>
  until('a process that reads', () => listReaderProcesses(server.pid)[0])

/** Kills a process that reads, and waits for the next one, which the import has unless it failed. */
async function killReader(server: ServerProcess, afterMs: number): Promise<void> {
  const reader = await findReader(server)
  await Bun.sleep(afterMs)
  process.kill(reader, 'SIGKILL')
  await until('the end of the process', () => !listReaderProcesses(server.pid).includes(reader))
}
