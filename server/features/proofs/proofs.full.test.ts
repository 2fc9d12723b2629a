import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { towpath } from '../../../tests/support/processes/command-shell.ts'
import { onBothEngines, type TestWorkspace } from '../../../tests/support/world.ts'
import { createImportRow } from '../transfer/history/history.fixture.ts'
import { closeDays } from './close-days.ts'
import { verifyChain } from './verify-chain.ts'

setDefaultTimeout(60_000)

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR
const NOON = Date.parse('2026-05-10T12:00:00Z')
let now = NOON

onBothEngines(
  'closed days',
  (server) => {
    let ws: TestWorkspace
    beforeAll(async () => {
      now = NOON
      ws = await server().createWorkspace()
      await ws.createLink({ slug: 'proven' })
    })

    const click = (times = 1) =>
      Promise.all(Array.from({ length: times }, () => server().click('proven'))).then(() =>
        server().waitUntilShipped(),
      )
    async function close(hitRetentionDays?: number) {
      const { db, hitWorker } = server().app
      await closeDays({ db, hits: hitWorker, now: () => now, hitRetentionDays })
    }
    const verify = (findsAll = false) => {
      const { db, hitWorker } = server().app
      return verifyChain({ read: db.read, hits: hitWorker }, ws.id, findsAll)
    }
    const list = async (query = '') => (await ws.api(`/proofs${query}`)).json
    const change = (set: object, day: string) =>
      server().app.db.write((connection) =>
        connection
          .updateTable('day_proofs')
          .set(set)
          .where('workspace_id', '=', ws.id)
          .where('day', '=', day)
          .execute(),
      )

    test('are chained six hours after their end, also those without hits', async () => {
      await click(3)
      now = Date.parse('2026-05-11T05:00:00Z')
      await close()
      expect((await list()).data.map(({ day }: { day: string }) => day)).toEqual(['2026-05-09'])
      now = Date.parse('2026-05-11T07:00:00Z')
      await click()
      await close()
      await close()
      const { data, total } = await list()
      expect(total).toBe(2)
      const [last, first] = data
      expect(first).toMatchObject({ day: '2026-05-09', kind: 'closed', hits: 0, previousHash: null })
      expect(last).toMatchObject({ day: '2026-05-10', kind: 'closed', hits: 3, previousHash: first.hash })
      now += 3 * DAY
      await close()
      expect((await list()).data.map(({ hits }: { hits: number }) => hits)).toEqual([0, 0, 1, 3, 0])
      const page = await list('?limit=2')
      expect((await list(`?limit=3&cursor=${page.nextCursor}`)).data[0].day).toBe('2026-05-11')
      const found = await verify()
      expect(found).toMatchObject({
        entries: 5,
        days: 5,
        differences: [],
        lastHash: (await list()).data[0].hash,
      })
    })

    test('show every later edit: of an entry, of the chain, of the hits', async () => {
      const [entry] = (await list()).data.filter(({ day }: { day: string }) => day === '2026-05-10')
      for (const [set, what] of [
        [{ hits: 4 }, /entry was changed/],
        [{ reason: 'import 1' }, /entry was changed/],
        [{ digest: 'x' }, /entry was changed/],
        [{ previous_hash: 'x' }, /removed or put in/],
      ] as const) {
        await change(set, '2026-05-10')
        const [found] = (await verify()).differences
        expect(found?.day).toBe('2026-05-10')
        expect(found?.what).toMatch(what)
        const { hits, reason, digest, previousHash } = entry
        await change({ hits, reason, digest, previous_hash: previousHash }, '2026-05-10')
      }
      expect((await verify()).differences).toEqual([])
      const checkDay = async (day: string) => (await ws.api(`/proofs/${day}`)).json.data
      expect(await checkDay('2026-05-10')).toMatchObject({ verified: true, hits: 3, hash: entry.hash })
      await change({ hits: 4 }, '2026-05-10')
      expect(await checkDay('2026-05-10')).toMatchObject({
        verified: false,
        message: 'The entry was changed.',
      })
      expect(await checkDay('2026-05-11')).toMatchObject({ verified: true, hits: 1 })
      await change({ hits: 3 }, '2026-05-10')
      // A hit that comes into a closed day.
      const later = now
      now = NOON
      await click()
      now = later
      const [found] = (await verify()).differences
      expect(found).toMatchObject({
        day: '2026-05-10',
        what: 'it had 3 hits when it was closed, and has 4 now',
      })
      expect(await checkDay('2026-05-10')).toMatchObject({ verified: false, hits: 4 })
      await close()
      expect((await verify(true)).differences).toHaveLength(1)
    })

    test('are verified by a command beside the server, which records a change with its reason', async () => {
      const { dataDir, databaseUrl, origin } = server()
      const run = (...words: string[]) =>
        towpath({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, TOWPATH_URL: origin }, ['verify', ...words])
      const first = await run(String(ws.id))
      const sentence = '2026-05-10 differs: it had 3 hits when it was closed, and has 4 now.\n'
      expect([first.code, first.err]).toEqual([1, sentence])
      const recorded = await run(String(ws.id), '--reason', 'a lost node was adopted')
      expect([recorded.code, recorded.out]).toEqual([0, '1 changed day is recorded: 2026-05-10\n'])
      const { data } = await list('?limit=1')
      expect(data[0]).toMatchObject({
        day: '2026-05-10',
        kind: 'changed',
        hits: 4,
        reason: 'operator: a lost node was adopted',
      })
      const again = await run(String(ws.id))
      expect([again.code, again.out]).toEqual([
        0,
        `No closed day has changed. Days: 5, entries: 6, last hash: ${data[0].hash}\n`,
      ])
      for (const words of [['x'], [], [String(ws.id), '--reason', '']])
        expect((await run(...words)).code).toBe(1)
    })

    test('that an import has changed get an entry with its name', async () => {
      const { db } = server().app
      const importId = await createImportRow({ db, workspaceId: ws.id } as never)
      const finish = (set: object) =>
        db.write((connection) =>
          connection.updateTable('imports').set(set).where('id', '=', importId).execute(),
        )
      await finish({ status: 'done', clicks: 1, finished_at: now })
      const later = now
      now = Date.parse('2026-05-11T12:00:00Z')
      await click()
      now = later
      await close()
      expect((await list()).total).toBe(6)
      now += HOUR
      await close()
      await close()
      const { data, total } = await list()
      expect([total, data[0]]).toMatchObject([
        7,
        { day: '2026-05-11', kind: 'changed', hits: 2, reason: `import ${importId}` },
      ])
      expect((await verify()).differences).toEqual([])
    })

    test('keep how many hits the retention has removed, and why', async () => {
      await close(4)
      const expired = (await list()).data.filter(({ kind }: { kind: string }) => kind === 'expired')
      expect(
        expired.map(({ day, reason, hits, removed }: Record<string, unknown>) => [
          day,
          reason,
          hits,
          removed,
        ]),
      ).toEqual([
        ['2026-05-10', 'HIT_RETENTION_DAYS=4', 0, 4],
        ['2026-05-09', 'HIT_RETENTION_DAYS=4', 0, 0],
      ])
      // What is gone is not recomputed.
      expect((await verify()).differences).toEqual([])
      await close(4)
      expect((await list()).total).toBe(9)
      const stranger = await server().createWorkspace()
      expect((await stranger.api('/proofs')).json).toEqual({ data: [], nextCursor: null, total: 0 })
    })
  },
  { now: () => now },
)
