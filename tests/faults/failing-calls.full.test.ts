// Every few calls to the disk or to the database fail, while people send forms and click. No success is answered without
// its row, every failure is 503, nothing is stored twice, and the next request works.

import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { createTestDatabase } from '../support/postgres/postgres-server.ts'
import { readMetric } from '../support/read-metrics.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp } from './click-counts.ts'
import { type CutMoment, startCuttingProxy } from './cutting-proxy.ts'
import { createFormOverHttp, isAcknowledged, readMarker, sendSubmission } from './form-submissions.ts'
import { startLoadGenerator } from './load-generator.ts'
import { createInstallation, type Installation, type ServerProcess } from './server-process.ts'
import { findStraceProblem, toFaultCommand } from './strace.ts'

/** A submission makes about ten calls: each of them fails a few times. */
const FAULTS = atScale({ full: 24, soak: 200 })
/** Long, because PostgreSQL is asked again for two seconds, and the machine may be busy. */
const WITHIN_MS = 200_000
/** Few, so that most commits have one submission, and a failure hits each of its calls. */
const SENDERS = 3
const ANSWERS_AFTER = 20

const closeLater = closeAfterAll()

interface Subject {
  installation: Installation
  server: ServerProcess
  form: string
  /** Everything that was acknowledged in all tests of this installation. */
  acknowledged: string[]
}

async function start(databaseUrl?: string): Promise<Subject> {
  const installation = await createInstallation(1, databaseUrl)
  closeLater(installation.end)
  const server = await installation.start(BEHIND_PROXY)
  await createLinkOverHttp('known', installation.keys[0] as string, server)
  expect((await server.click('known')).status).toBe(302)
  return { installation, server, form: await createFormOverHttp(server, installation), acknowledged: [] }
}

let loads = 0

/** Sends until enough calls have failed, and some more after the faults have ended. */
async function sendDuringFaults(
  { server, form, acknowledged }: Subject,
  countFaults: () => number,
  endFaults: () => unknown,
) {
  const name = `load${loads++}`
  const forms = startLoadGenerator(SENDERS, async (number) => {
    const marker = `${name}-${number}`
    const answer = await sendSubmission(server, form, marker, 'script')
    return { ...answer, acknowledged: isAcknowledged(answer, 'script') ? marker : undefined }
  })
  const clicks = startLoadGenerator(1, async () => {
    await Bun.sleep(5)
    return server.click('known')
  })
  closeLater(forms.stop)
  closeLater(clicks.stop)
  await until(`${FAULTS} failed calls`, () => countFaults() >= FAULTS, WITHIN_MS)
  await endFaults()
  const before = forms.acknowledged.length
  await until('submissions after the faults', () => forms.acknowledged.length > before + ANSWERS_AFTER)
  await Promise.all([forms.stop(), clicks.stop()])
  expect([...forms.statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([])
  expect(forms.withoutRetryAfter).toBe(0)
  expect([...clicks.statuses.keys()]).toEqual([302])
  acknowledged.push(...forms.acknowledged)
}

/** Kills the server: what it has answered must be on the disk, or in the other database. */
async function expectStored({ installation, server, acknowledged }: Subject) {
  await server.kill()
  const db = await openDatabase(installation)
  try {
    const rows = await db.read.selectFrom('submissions').select('fields').execute()
    const stored = rows.map(({ fields }) => readMarker(fields))
    const storedMarkers = new Set(stored)
    expect(acknowledged.filter((marker) => !storedMarkers.has(marker))).toEqual([])
    expect(storedMarkers.size).toBe(stored.length)
  } finally {
    await db.close()
  }
}

const reason = findStraceProblem()

describe.skipIf(reason !== undefined)(
  `SQLite on a disk${reason ? ` (skipped: strace: ${reason})` : ''}`,
  () => {
    const ending: (() => Promise<unknown>)[] = []
    afterEach(async () => {
      for (const end of ending.splice(0)) await end()
    })

    /** strace makes every few calls on the database fail, as the kernel would. */
    async function failCalls({ server, installation }: Subject, call: string, error: string, every: number) {
      const faults = join(installation.dataDir, `faults-${every}`)
      writeFileSync(faults, '')
      const files = ['towpath.db', 'towpath.db-wal'].map((name) => join(installation.dataDir, name))
      const child = Bun.spawn(toFaultCommand({ pid: server.pid, files, call, error, every, faults }), {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      const end = async () => {
        child.kill('SIGINT')
        await child.exited
      }
      ending.push(end)
      const countFaults = () => readFileSync(faults, 'utf8').split('(INJECTED)').length - 1
      return { countFaults, end }
    }

    let subject: Subject
    test.each([
      ['has no room', 'pwrite64', 'ENOSPC', 7],
      ['fails when it writes', 'pwrite64', 'EIO', 11],
      ['fails when it syncs', 'fsync,fdatasync', 'EIO', 2],
    ] as const)(
      'that %s, now and then',
      async (_, call, error, every) => {
        subject ??= await start()
        const { countFaults, end } = await failCalls(subject, call, error, every)
        await sendDuringFaults(subject, countFaults, end)
      },
      300_000,
    )

    test('has stored what was acknowledged, once', async () => {
      await expectStored(subject)
    }, 300_000)
  },
)

/** The feed of changes voids the new link once more, and its next click needs the database. */
async function keepInCache(server: ServerProcess): Promise<void> {
  const begun = performance.now()
  await until('a look at the changes', async () => {
    const lag = await readMetric(server.origin, 'towpath_change_feed_lag_seconds')
    return lag * 1000 < performance.now() - begun
  })
  expect((await server.click('known')).status).toBe(302)
}

describe('PostgreSQL behind a network', () => {
  let subject: Subject
  let proxy: Awaited<ReturnType<typeof startCuttingProxy>>
  test.each<[CutMoment, number]>([
    ['before the message arrives', 13],
    ['before its answer arrives', 17],
  ])(
    'that breaks connections %s',
    async (moment, every) => {
      if (!subject) {
        proxy = await startCuttingProxy((await createTestDatabase()).url)
        closeLater(proxy.close)
        subject = await start(proxy.url)
        await keepInCache(subject.server)
      }
      const before = proxy.countCuts()
      proxy.cutEvery(every, moment)
      const countFaults = () => proxy.countCuts() - before
      await sendDuringFaults(subject, countFaults, () => proxy.cutEvery(undefined, moment))
    },
    120_000,
  )

  test('has stored what was acknowledged, once', async () => {
    await expectStored(subject)
  }, 300_000)
})
