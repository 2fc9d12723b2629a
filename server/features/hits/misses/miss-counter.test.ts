import { beforeEach, describe, expect, test } from 'bun:test'
import { useDatabase } from '../../../../tests/support/test-rows.ts'
import { ENGINES } from '../../../../tests/support/world.ts'
import { Failure } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/database.ts'
import { type Miss, openMissCounter } from './miss-counter.ts'
import { pruneMisses } from './prune-misses.ts'

const HOUR = 60 * 60 * 1000
const NOON = Date.parse('2026-05-01T12:00:00Z')
const DAY = 24 * HOUR

for (const engine of ENGINES) {
  describe(`misses (${engine})`, () => {
    const store = useDatabase(engine)
    const disk = { low: false, isLow: () => disk.low }

    beforeEach(async () => {
      disk.low = false
      await store.db.write((connection) => connection.deleteFrom('misses').execute())
    })

    const open = (slugsMax = 10_000, database: Database = store.db) =>
      openMissCounter({ db: database, getSalt: () => 'ab'.repeat(32), disk, now: () => NOON, slugsMax })
    const miss = (slugKey: string | null, change: Partial<Miss> = {}): Miss => ({
      at: NOON,
      domain: '',
      workspaceId: 0,
      slugKey,
      human: true,
      address: '198.51.100.1',
      userAgent: 'Mozilla/5.0',
      ...change,
    })
    async function readRows() {
      const rows = await store.db.read.selectFrom('misses').selectAll().execute()
      const key = ({ domain, hour, slug }: (typeof rows)[number]) => `${hour} ${domain}/${slug}`
      return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
    }

    test('are counted by slug and hour, people and robots apart', async () => {
      const counter = await open()
      counter.count(miss('sale'))
      counter.count(miss('sale', { at: NOON + 5, human: false }))
      await counter.flush()
      counter.count(miss('sale', { at: NOON + 1 }))
      counter.count(miss('sale', { at: NOON + HOUR }))
      counter.count(miss('sale', { domain: 'go.example' }))
      await counter.close()
      counter.count(miss('too-late'))
      await counter.flush()
      const row = { domain: '', workspace_id: 0, slug: 'sale', hits: 1, visitors: 0, bots: 0 }
      expect(await readRows()).toEqual([
        { ...row, hour: NOON, hits: 2, visitors: 1, bots: 1, last_at: NOON + 5 },
        { ...row, hour: NOON, domain: 'go.example', visitors: 1, last_at: NOON },
        { ...row, hour: NOON + HOUR, last_at: NOON + HOUR },
      ])
    })

    test('count a visitor once a day for each slug', async () => {
      const counter = await open()
      for (const address of ['198.51.100.1', '198.51.100.2', '198.51.100.1']) {
        for (const slug of ['a', 'b']) counter.count(miss(slug, { address }))
      }
      counter.count(miss('a', { at: NOON + DAY }))
      await counter.close()
      expect((await readRows()).map(({ slug, visitors }) => [slug, visitors])).toEqual([
        ['a', 2],
        ['b', 2],
        ['a', 1],
      ])
    })

    test('have a bound of distinct slugs an hour and domain, and the rest is one number', async () => {
      const counter = await open(100)
      for (let n = 0; n < 1000; n++) counter.count(miss(`s${n}`))
      counter.count(miss('s0'))
      counter.count(miss('own', { domain: 'go.example' }))
      counter.count(miss(null))
      await counter.close()
      // After a restart too.
      const next = await open(100)
      next.count(miss('s0'))
      next.count(miss('another'))
      await next.close()
      const rows = await readRows()
      const named = rows.filter(({ domain, slug }) => domain === '' && slug !== '')
      expect(named).toHaveLength(100)
      expect(named.find(({ slug }) => slug === 's0')).toMatchObject({ hits: 3 })
      expect(rows.find(({ slug }) => slug === '')).toMatchObject({ hits: 902, visitors: 0 })
      expect(rows.find(({ domain }) => domain === 'go.example')).toMatchObject({ slug: 'own', hits: 1 })
    })

    test('get no new rows while the disk is low, and are counted all the same', async () => {
      const counter = await open()
      counter.count(miss('known'))
      disk.low = true
      for (let n = 0; n < 50; n++) counter.count(miss(`s${n}`))
      counter.count(miss('known'))
      await counter.close()
      expect((await readRows()).map(({ slug, hits }) => [slug, hits])).toEqual([
        ['', 50],
        ['known', 2],
      ])
    })

    test('wait while the database is unavailable, in bounded memory', async () => {
      let down = true
      const unreliable: Database = {
        ...store.db,
        read: store.db.read,
        write: (body) =>
          down ? Promise.reject(new Failure('unavailable', 'Temporarily unavailable')) : store.db.write(body),
      }
      const counter = await open(10_000, unreliable)
      for (let n = 0; n < 30_000; n++)
        counter.count(miss(`s${n}`, { at: NOON + Math.floor(n / 9000) * HOUR }))
      await counter.flush()
      expect(await readRows()).toEqual([])
      down = false
      await counter.close()
      const rows = await readRows()
      expect(rows.reduce((sum, { hits }) => sum + hits, 0)).toBe(30_000)
      expect(rows.length).toBeLessThanOrEqual(20_010)
    })

    test('are pruned with the retention of hits', async () => {
      const counter = await open()
      for (let hour = 0; hour < 5; hour++) counter.count(miss('a', { at: NOON + hour * HOUR }))
      await counter.close()
      await pruneMisses({ db: store.db, now: NOON + 10 * DAY, since: 0 })
      expect(await readRows()).toHaveLength(5)
      await pruneMisses({ db: store.db, now: NOON + 10 * DAY, since: NOON + 3 * HOUR })
      expect((await readRows()).map(({ hour }) => hour)).toEqual([NOON + 3 * HOUR, NOON + 4 * HOUR])
    })

    test('have a bound of rows: slugs that were asked for once go first, and no request is lost', async () => {
      const counter = await open()
      for (let hour = 0; hour < 3; hour++) {
        for (let n = 0; n < 100; n++) counter.count(miss(`s${n}`, { at: NOON + hour * HOUR }))
        for (let n = 0; n < 20; n++) counter.count(miss('often', { at: NOON + hour * HOUR }))
      }
      await counter.close()
      const total = async () => (await readRows()).reduce((sum, { hits }) => sum + hits, 0)
      // Nothing of the last day.
      await pruneMisses({ db: store.db, now: NOON + 3 * HOUR, since: 0, rowsMax: 10 })
      expect(await readRows()).toHaveLength(303)
      await pruneMisses({ db: store.db, now: NOON + 3 * DAY, since: 0, rowsMax: 150 })
      const rows = await readRows()
      expect(rows.filter(({ hour }) => hour < NOON + 2 * HOUR).map(({ slug }) => slug)).toEqual([
        '',
        'often',
        '',
        'often',
      ])
      expect(rows.filter(({ hour }) => hour === NOON + 2 * HOUR)).toHaveLength(101)
      await pruneMisses({ db: store.db, now: NOON + 3 * DAY, since: 0, rowsMax: 1 })
      expect((await readRows()).every(({ slug }) => slug === '')).toBe(true)
      expect(await total()).toBe(360)
    })
  })
}
