// The contract of a hit engine. The test of an engine calls this with a function that opens one.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { digestDay } from '../../server/features/proofs/day-digest.ts'
import { toStoredVisitor } from '../../server/storage/hits/day-visitor.ts'
import { HIT_DIMENSIONS, type Hit, NO_VISITOR } from '../../server/storage/hits/hit.ts'
import type {
  HitAnswer,
  HitColumn,
  HitEngine,
  HitQuery,
  StorePosition,
} from '../../server/storage/hits/hit-engine.ts'

const T0 = Date.parse('2026-06-10T12:00:00Z')

/** Of the hits of one test below. It never changes: stored digests would no longer be those of their days. */
const DAY_DIGEST = '76bb0a5e1321f18c75bee0932d9eb7e976de66aff2e40af97c63b7bfc4f48c4b'

let lastId = 0
/** A click on link 1 of workspace 1, with the given changes. */
export function createHit(part: Partial<Hit> = {}): Hit {
  lastId++
  const absent = Object.fromEntries(
    [...HIT_DIMENSIONS, 'unknownSlug', 'importId', 'params'].map((name) => [name, null]),
  )
  return {
    ...(absent as unknown as Hit),
    id: lastId,
    at: T0 + lastId,
    workspaceId: 1,
    linkId: 1,
    outcome: 'redirect',
    class: 'human',
    trigger: 'link',
    visitor: String(lastId),
    ...part,
  }
}

/** A query of all clicks of workspace 1, with the given changes. */
export const createHitQuery = (part: Partial<HitQuery> = {}): HitQuery => ({
  workspaceId: 1,
  start: 0,
  end: Date.parse('2100-01-01'),
  classes: ['human'],
  filters: [],
  groupBy: { by: 'total' },
  ...part,
})

const top = <Column extends HitColumn>(by: Column, limit = 100) => ({ by, limit, nullAs: 'Unknown' })

export interface HitEngineSubject {
  open(directory: string): Promise<HitEngine>
  /** Absent where the engine makes no backup. */
  openBackup?(path: string): Promise<HitEngine>
}

export function testHitEngine(name: string, { open, openBackup }: HitEngineSubject) {
  describe(`hit engine: ${name}`, () => {
    let directory: string
    let engine: HitEngine

    beforeEach(async () => {
      directory = mkdtempSync(join(tmpdir(), 'hits-'))
      engine = await open(directory)
    })
    afterEach(async () => {
      await engine.close()
      rmSync(directory, { recursive: true, force: true })
    })

    const write = (number: number, content: string) => {
      const path = join(directory, `${number}.ndjson`)
      writeFileSync(path, content)
      return path
    }
    const load = (number: number, hits: Hit[], node = 'a') =>
      engine.load({
        node,
        number,
        path: write(number, hits.map((each) => `${JSON.stringify(each)}\n`).join('')),
      })
    const nextBatch = async () => (await engine.mark('a')) + 1
    const total = async (part: Partial<HitQuery> = {}) => (await engine.ask(createHitQuery(part)))[0]?.clicks
    const keys = async (part: Partial<HitQuery>) =>
      (await engine.ask(createHitQuery(part))).map(({ key, clicks, visitors }) => [key, clicks, visitors])

    test('an empty engine knows no batch and answers zero', async () => {
      expect(await engine.mark('a')).toBe(0)
      expect(await engine.ask(createHitQuery())).toEqual([{ key: null, clicks: 0, visitors: 0 }])
      expect(await engine.ask(createHitQuery({ groupBy: top('country') }))).toEqual([])
      expect(
        await engine.ask(createHitQuery({ groupBy: { by: 'linkGroup', groups: [], limit: 10 } })),
      ).toEqual([])
    })

    test('a batch counts once, also when it is loaded again', async () => {
      await load(1, [createHit(), createHit()])
      await load(1, [createHit(), createHit()])
      await Promise.all([load(2, [createHit()]), load(2, [createHit()]), load(2, [createHit()])])
      await load(1, [createHit()])
      expect(await total()).toBe(3)
      expect(await engine.mark('a')).toBe(2)
    })

    test('each node has its own numbers', async () => {
      await load(1, [createHit()], 'a')
      await load(1, [createHit()], 'b')
      expect([await engine.mark('a'), await engine.mark('b'), await engine.mark('c')]).toEqual([1, 1, 0])
      expect(await total()).toBe(2)
    })

    test('an inspection has the marks, and the clicks of people by link', async () => {
      expect(await engine.inspect(false)).toMatchObject({ marks: {}, marksAfter: {} })
      await load(1, [createHit({ linkId: 7 }), createHit({ linkId: 300 }), createHit({ linkId: 7 })])
      const others = [
        createHit({ linkId: 7, workspaceId: 2 }),
        createHit({ linkId: 7, class: 'bot' }),
        createHit({ linkId: 7, outcome: 'expired' }),
        createHit({ linkId: 0 }),
      ]
      await load(1, others, 'b')
      const { version, marks, marksAfter, clicks } = await engine.inspect(true)
      expect(version).toMatch(/^(DuckDB|ClickHouse) v?\d+\./)
      expect([marks, marksAfter]).toEqual([
        { a: 1, b: 1 },
        { a: 1, b: 1 },
      ])
      expect([...(clicks?.linkIds ?? [])]).toEqual([7, 300])
      expect([...(clicks?.clicks ?? [])]).toEqual([3, 1])
      expect((await engine.inspect(false)).clicks).toBeUndefined()
    })

    test('a gap is refused until the missing batches are declared lost', async () => {
      await load(1, [createHit()])
      await expect(load(3, [createHit()])).rejects.toThrow('does not follow')
      expect(await engine.mark('a')).toBe(1)
      await engine.skip('a', 2)
      await engine.skip('a', 1)
      await load(3, [createHit()])
      expect([await engine.mark('a'), await total()]).toEqual([3, 2])
    })

    const good = JSON.stringify(createHit())
    test.each([
      ['half a line', `${good}\n${good.slice(0, 80)}`],
      ['zeros at the end', `${good}\n\0\0\0\n`],
      ['a list', `${good}\n[1]\n`],
      [
        'a number too large',
        `${good}\n${good.replace(/"visitor":"\d+"/, '"visitor":"18446744073709551616"')}\n`,
      ],
      ['text for a number', `${good}\n${good.replace(/"at":\d+/, '"at":"soon"')}\n`],
      ['no outcome', `${good}\n${good.replace('"outcome":"redirect",', '')}\n`],
      ['no moment', `${good}\n${good.replace(/"at":\d+,/, '"at":null,')}\n`],
    ])('a batch with %s is an error and leaves nothing behind', async (_, content) => {
      await load(1, [createHit()])
      await expect(engine.load({ node: 'a', number: 2, path: write(2, content) })).rejects.toThrow()
      expect([await total(), await engine.mark('a')]).toEqual([1, 1])
      await load(2, [createHit()])
      expect([await total(), await engine.mark('a')]).toEqual([2, 2])
    })

    test('a missing batch file is an error', async () => {
      await expect(
        engine.load({ node: 'a', number: 1, path: join(directory, 'none.ndjson') }),
      ).rejects.toThrow()
      expect(await engine.mark('a')).toBe(0)
    })

    test('the digest of a day is the same in every engine, and changes with each part of it', async () => {
      const at = T0
      const hits: Partial<Hit>[] = [
        { at, visitor: '1', country: 'DE', city: 'Köln', referrer: 'news.example', utmSource: 'a"b' },
        { at, visitor: '1', linkId: 2, trigger: 'qr', variant: 'B' },
        { at: at + 3_600_000, visitor: '2', country: 'US', utmCampaign: '👩‍💻' },
        { at, visitor: '3', class: 'bot' },
        { at, visitor: '4', outcome: 'landing' },
        { at, visitor: NO_VISITOR, importId: 7 },
        { at: at + 86_400_000, visitor: '5' },
      ]
      await load(
        1,
        hits.map((hit) => createHit(hit)),
      )
      const day = await digestDay(engine, 1, '2026-06-10')
      expect(day).toEqual({ hits: 6, digest: DAY_DIGEST })
      await load(2, [createHit({ at, visitor: '1', country: 'DE', city: 'Bonn', class: 'prefetch' })])
      expect((await digestDay(engine, 1, '2026-06-10')).digest).not.toBe(DAY_DIGEST)
      expect(await digestDay(engine, 2, '2026-06-10')).toMatchObject({ hits: 0 })
    })

    test('an empty batch advances the mark', async () => {
      await load(1, [])
      expect([await total(), await engine.mark('a')]).toEqual([0, 1])
    })

    test('the largest numbers are stored exactly', async () => {
      const largest = { id: Number.MAX_SAFE_INTEGER, linkId: Number.MAX_SAFE_INTEGER }
      await load(1, [
        createHit({ ...largest, visitor: '18446744073709551615' }),
        createHit({ ...largest, visitor: '18446744073709551614' }),
      ])
      expect(await keys({ groupBy: top('linkId') })).toEqual([[Number.MAX_SAFE_INTEGER, 2, 2]])
    })

    test('visitors are counted exactly', async () => {
      await load(
        1,
        Array.from({ length: 5000 }, (_, n) => createHit({ visitor: String(1 + (n % 1234)) })),
      )
      expect(await engine.ask(createHitQuery())).toEqual([{ key: null, clicks: 5000, visitors: 1234 }])
    })

    const NOON = Date.parse('2026-06-10T12:00:00Z')
    const DAY = 24 * 60 * 60 * 1000

    test('a visitor belongs to one UTC day: the same id on two days is two visitors', async () => {
      const midnight = NOON + DAY / 2
      const visitor = '18446744073709551615'
      const hits = [NOON, midnight - 1, midnight, midnight + 1].map((at) => createHit({ at, visitor }))
      await load(1, hits)
      await load(1, hits)
      // Another node has seen the same visitor.
      await load(1, [createHit({ at: midnight - 2, visitor })], 'b')
      expect(await keys({})).toEqual([[null, 5, 2]])
      expect(await keys({ end: midnight })).toEqual([[null, 3, 1]])
      expect(await keys({ start: midnight })).toEqual([[null, 2, 1]])
      expect(await keys({ groupBy: { by: 'time', starts: [0, midnight] } })).toEqual([
        [0, 3, 1],
        [midnight, 2, 1],
      ])
      expect(await keys({ groupBy: top('country') })).toEqual([['Unknown', 5, 2]])
    })

    test('a visitor as an engine has stored it stays the same visitor', async () => {
      const visitor = '12345678901234567890'
      await load(1, [createHit({ at: NOON, visitor })])
      await load(2, [createHit({ at: NOON + 1, visitor: toStoredVisitor(visitor, NOON) })])
      expect(await keys({})).toEqual([[null, 2, 1]])
    })

    // Two of n visitors of a workspace on a day collide with odds of n²/2^49: 0.2 % for a million.
    test('visitors who differ in their highest 16 bits alone are one visitor of the day', async () => {
      const [low, high] = [7n, 7n + 2n ** 48n].map(String) as [string, string]
      const higher = String(7n + 2n ** 47n)
      await load(
        1,
        [low, high, higher, NO_VISITOR].map((visitor) => createHit({ at: NOON, visitor })),
      )
      expect(await keys({})).toEqual([[null, 4, 2]])
    })

    test('a hit is left out before 1970, and loaded at every later moment', async () => {
      const last = Date.parse('2299-12-31T23:59:59.999Z')
      const moments = [-1, -DAY, Number.MIN_SAFE_INTEGER, 0, 1, DAY, 65_536 * DAY, last]
      await load(
        1,
        moments.map((at) => createHit({ at, visitor: '5' })),
      )
      // The days of 65,536 days ago have the same 16 bits.
      expect(await keys({ start: Number.MIN_SAFE_INTEGER, end: last + 1 })).toEqual([[null, 5, 3]])
      await load(2, [createHit({ at: Number.MAX_SAFE_INTEGER, visitor: '5' })]).catch(() => undefined)
      await load(await nextBatch(), [createHit({ at: 2, visitor: '5' })])
      expect(await keys({ start: 2, end: 3 })).toEqual([[null, 1, 1]])
    })

    test('an imported click is never the last click of a visitor', async () => {
      await load(1, [createHit({ at: 10, visitor: '7' }), createHit({ at: 20, visitor: '7', importId: 9 })])
      const query = {
        workspaceId: 1,
        moments: [
          { visitor: '7', at: 30 },
          { visitor: NO_VISITOR, at: 30 },
        ],
        withinMs: 30,
      }
      expect((await engine.findLastClicks(query)).map((click) => click?.at)).toEqual([10, undefined])
    })

    test('the clicks of a link are on one page each, also those that come late', async () => {
      const page = (after: StorePosition | 'latest', limit = 2) =>
        engine.readClicks({ workspaceId: 1, linkId: 1, classes: ['human'], after, limit })
      const readAll = async (position: StorePosition) => {
        const seen: string[] = []
        for (;;) {
          const read = await page(position)
          if (read.clicks.length === 0) return { seen, position: read.position }
          seen.push(...read.clicks.map(({ node, id }) => `${node} ${id}`))
          position = read.position
        }
      }
      const hit = (id: number, part: Partial<Hit> = {}) => createHit({ id, linkId: 1, ...part })
      expect(await page({})).toEqual({ clicks: [], position: {} })
      await load(1, [hit(1), hit(2, { class: 'bot' }), hit(3, { at: 9 }), hit(4, { linkId: 2 }), hit(5)])
      await load(2, [hit(1, { importId: 7 }), hit(6, { outcome: 'expired' }), hit(7, { workspaceId: 2 })])
      const first = await readAll({})
      expect(first.seen).toEqual(['a 1', 'a 3', 'a 5'])
      expect((await page('latest')).position).toEqual({ a: 5 })
      // A dead node's batch, and a click with the time of an earlier one.
      await load(1, [hit(2, { at: 1 }), hit(4)], 'b')
      await load(3, [hit(8, { at: 2, country: null, visitor: '5' })])
      const second = await readAll(first.position)
      expect(second.seen.toSorted()).toEqual(['a 8', 'b 2', 'b 4'])
      expect(second.position).toEqual({ a: 8, b: 4 })
      const { clicks } = await page({ a: 5, b: 4 })
      expect(clicks).toEqual([
        { ...hit(8, { at: 2, country: null }), visitor: toStoredVisitor('5', 2), node: 'a' },
      ])
      expect((await page('latest')).position).toEqual(second.position)
    })

    test('the hits of an import are deleted, those of others stay', async () => {
      await load(1, [
        createHit({ importId: 9, linkId: 1, at: 50 }),
        createHit({ importId: 9, linkId: 3, at: 50 }),
        createHit({ importId: 9, workspaceId: 2 }),
        createHit({ importId: 8, linkId: 1, at: 20 }),
        createHit({ linkId: 1, at: 10 }),
        createHit({ linkId: 1, at: 60, class: 'bot' }),
        createHit({ linkId: 2, at: 15 }),
      ])
      const find = async () =>
        (await engine.findLastClickTimes(1, [1, 2, 3, 4])).toSorted(([a], [b]) => a - b)

      expect(await find()).toEqual([
        [1, 50],
        [2, 15],
        [3, 50],
      ])
      await engine.deleteImported({ workspaceId: 1, importId: 9 })
      await engine.deleteImported({ workspaceId: 1, importId: 9 })

      expect(await find()).toEqual([
        [1, 20],
        [2, 15],
      ])
      expect([await total(), await total({ workspaceId: 2 }), await engine.mark('a')]).toEqual([3, 1, 1])
      expect(await engine.findLastClickTimes(1, [])).toEqual([])
      expect(await engine.listRecentClicks({ workspaceId: 1, start: 10, end: 60, limit: 1 })).toEqual([
        expect.objectContaining({ at: 15, linkId: 2, country: null, trigger: 'link' }),
      ])
      expect(await engine.listRecentClicks({ workspaceId: 1, start: 0, end: 15, limit: 5 })).toHaveLength(1)
      await load(2, [createHit({ importId: 9 })])
      expect(await total()).toBe(4)
    })

    test('the range includes its start and excludes its end', async () => {
      await load(1, [createHit({ at: 1000 }), createHit({ at: 1999 }), createHit({ at: 2000 })])
      expect(await total({ start: 1000, end: 2000 })).toBe(2)
      expect(await total({ start: 1001, end: 2000 })).toBe(1)
      expect(await total({ start: 2000, end: 2001 })).toBe(1)
    })

    test('every dimension can be grouped and filtered, and has a label for missing values', async () => {
      const named = Object.fromEntries(HIT_DIMENSIONS.map((name) => [name, `x-${name}`])) as Partial<Hit>
      await load(1, [createHit(named), createHit({ trigger: 'qr' })])
      for (const column of HIT_DIMENSIONS) {
        const second = column === 'trigger' ? 'qr' : 'Unknown'
        const rows = await keys({ groupBy: top(column) })
        expect(rows.sort()).toEqual(
          [
            [second, 1, 1],
            [`x-${column}`, 1, 1],
          ].sort(),
        )
        expect(await total({ filters: [{ column, values: [`x-${column}`], negate: false }] })).toBe(1)
      }
    })

    test('a value that equals the null label is counted with missing values', async () => {
      await load(1, [createHit({ city: 'Unknown', visitor: '1' }), createHit({ city: null, visitor: '1' })])
      expect(await keys({ groupBy: top('city') })).toEqual([['Unknown', 2, 1]])
    })

    test('hostile text is returned unchanged and does nothing', async () => {
      const hostile = [
        `'; DROP TABLE hits; --`,
        `$1`,
        `{p1:String}`,
        `\\' OR 1=1`,
        `"quoted"`,
        '\0nul',
        `a,b`,
        '😀\u202e',
        `\\N`,
        `null`,
        '',
        ' ',
        '%',
        '\n\r\t',
      ]
      await load(
        1,
        hostile.map((text) => createHit({ utmCampaign: text })),
      )
      const found = (await keys({ groupBy: top('utmCampaign') })).map(([key]) => String(key))
      expect(found.sort()).toEqual([...hostile].sort())
      for (const text of hostile) {
        expect(await total({ filters: [{ column: 'utmCampaign', values: [text], negate: false }] })).toBe(1)
        const groups = [{ linkId: 1, group: text }]
        expect(await keys({ groupBy: { by: 'linkGroup', groups, limit: 1 } })).toEqual([
          [text, hostile.length, hostile.length],
        ])
      }
    })

    test('every answer has whole batches when queries and loads run at the same time', async () => {
      const loads = (async () => {
        for (let number = 1; number <= 12; number++)
          await load(
            number,
            Array.from({ length: 100 }, () => createHit()),
          )
      })()
      const seen: HitAnswer[][] = []
      while ((seen.at(-1)?.[0]?.clicks ?? 0) < 1200)
        seen.push(...(await Promise.all([1, 2, 3, 4].map(() => engine.ask(createHitQuery())))))
      await loads
      expect(seen.flat().every((answer) => answer.clicks % 100 === 0)).toBe(true)
    })

    const last = async (
      moments: [visitor: string, at: number][],
      { withinMs = 1000, workspaceId = 1 }: { withinMs?: number; workspaceId?: number } = {},
    ) => {
      const asked = moments.map(([visitor, at]) => ({ visitor, at }))
      const clicks = await engine.findLastClicks({ workspaceId, moments: asked, withinMs })
      return clicks.map((click) => click && [click.node, click.id, click.linkId, click.at])
    }

    test('the last click says where its visitor came from, as it was recorded', async () => {
      const source = { referrer: 'search.example', utmSource: 'news', utmMedium: 'mail' }
      const nothing = { referrer: null, utmSource: null, utmMedium: null }
      const others = { utmCampaign: null, utmTerm: 't', utmContent: null }
      await load(1, [
        createHit({ visitor: '7', id: 1, linkId: 10, at: 1000, variant: 'B', ...source, ...others }),
        createHit({ visitor: '8', id: 2, linkId: 10, at: 1000, ...nothing, ...others }),
      ])
      const moments = ['7', '8'].map((visitor) => ({ visitor, at: 1500 }))
      const clicks = await engine.findLastClicks({ workspaceId: 1, moments, withinMs: 1000 })
      const click = { node: 'a', linkId: 10, at: 1000, ...others }
      expect(clicks).toEqual([
        { ...click, id: 1, variant: 'B', ...source },
        { ...click, id: 2, variant: null, ...nothing },
      ])
    })

    test('the last click: of clicks in one millisecond, the one that was recorded last', async () => {
      await load(
        1,
        [9, 11, 10].map((id) => createHit({ visitor: '7', id, linkId: id, at: 1000 })),
      )
      expect(await last([['7', 1000]])).toEqual([['a', 11, 11, 1000]])
      await load(1, [createHit({ visitor: '7', id: 11, linkId: 5, at: 1000 })], 'b')
      expect(await last([['7', 1000]])).toEqual([['b', 11, 5, 1000]])
    })

    test('an erased workspace has no hits; the others keep theirs, and marks and loads go on', async () => {
      await load(1, [createHit(), createHit({ workspaceId: 2, visitor: '7', at: 1000 })])
      await load(2, [createHit({ workspaceId: 2 }), createHit({ workspaceId: 3 }), createHit()])
      const busy = Array.from({ length: 10 }, () =>
        engine.ask(createHitQuery({ groupBy: top('country') })).catch((error) => {
          expect(error).toMatchObject({ code: 'unavailable' })
        }),
      )
      await engine.erase([2, 3, 99])
      await Promise.all(busy)
      expect(await Promise.all([1, 2, 3].map((workspaceId) => total({ workspaceId })))).toEqual([2, 0, 0])
      expect(await last([['7', 1000]], { workspaceId: 2 })).toEqual([null])
      expect(await engine.mark('a')).toBe(2)
      await load(2, [createHit({ workspaceId: 2 })])
      await load(3, [createHit()])
      await Promise.all([engine.erase([2]), engine.erase([99])])
      expect([await total(), await total({ workspaceId: 2 })]).toEqual([3, 0])
    })

    test('a backup has consistent hits and marks while queries run', async () => {
      // An engine that keeps copies of its own makes no backup.
      if (!engine.backup || !openBackup) return
      await load(1, [createHit()])
      const copy = join(mkdtempSync(join(directory, 'backup-')), 'copy')
      await engine.backup(copy)
      await load(2, [createHit(), createHit()])
      const busy = Array.from({ length: 20 }, () => engine.ask(createHitQuery({ groupBy: top('country') })))
      await engine.backup(copy)
      await Promise.all(busy)
      await load(3, [createHit()])
      expect(await total()).toBe(4)
      const restored = await openBackup(copy)
      expect([(await restored.ask(createHitQuery()))[0]?.clicks, await restored.mark('a')]).toEqual([3, 2])
      await restored.close()
    })
  })
}
