import { afterEach, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { atScale, quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { createGeoLookup } from '../../../storage/geo.ts'
import { openDuckDb } from '../../../storage/hits/duckdb/engine.ts'
import { HIT_CLASSES, HIT_DIMENSIONS, type Hit } from '../../../storage/hits/hit.ts'
import { createDailySalts } from '../../visitors/salts.ts'
import { parseUserAgent } from '../../visitors/user-agent.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import type { RawHit } from '../spool/raw-hit.ts'
import { HEADER_BYTES } from '../spool/record-format.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import { openSpoolReader } from '../spool/spool-reader.ts'
import type { BatchFile } from './batch-file.ts'
import { readHits } from './batch-reader.ts'
import { createBatchWriter } from './batch-writer.ts'
import { type ClickCount, countBatchClicks } from './click-counts.ts'
import { createEnricher, type Enricher } from './enricher.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const geo = createGeoLookup()
const describer = createEnricher({
  geo,
  parseUserAgent,
  getSalt: createDailySalts().get,
  ownHosts: () => new Set(['go.example']),
})

interface Written {
  batch: BatchFile
  counts: ClickCount[]
}

async function setUp(
  options: {
    maxHits?: number
    isCompressed?: boolean
    describer?: Enricher
    onBatch?(spool: Spool): void
  } = {},
) {
  const root = await mkdtemp(join(tmpdir(), 'towpath-batches-'))
  closing.push(() => rm(root, { recursive: true }))
  const dir = join(root, 'batches')
  await mkdir(dir)
  const spool = await openSpool({ dir: join(root, 'spool'), segmentBytes: 1024 * 1024 })
  closing.push(() => spool.close())
  const reader = openSpoolReader(spool.dir, spool.writePosition, { seq: 0, offset: HEADER_BYTES })
  closing.push(() => reader.close())
  const written: Written[] = []
  const write = createBatchWriter({
    reader,
    dir,
    node: spool.node,
    lastNumber: () => written.length,
    maxHits: options.maxHits ?? 1000,
    isCompressed: options.isCompressed ?? false,
    enricher: options.describer ?? describer,
    onBatch(batch, counts) {
      written.push({ batch, counts })
      options.onBatch?.(spool)
    },
  })
  return { root, dir, spool, write, written }
}

async function hitsOf(written: Written[]): Promise<(Hit | null)[]> {
  const hits = []
  for (const { batch } of written) for await (const hit of readHits(batch.path)) hits.push(hit)
  return hits
}

/** Appends hits, and waits until the spool has a place for each: until then some wait in memory. */
async function appendMany(spool: Spool, count: number, toHit: (index: number) => Partial<RawHit>) {
  for (let i = 0; i < count; i++) {
    spool.append(createRawHit(toHit(i)))
    if (i % 500 === 0) await until('room in the spool', () => spool.stats().waiting === 0)
  }
  await until('room in the spool', () => spool.stats().waiting === 0)
}

test('leaves hits that arrive after the end was reached to the next pass, so that load makes no tiny batches', async () => {
  let more = 5
  const { spool, write, written } = await setUp({
    onBatch: () => more-- > 0 && spool.append(createRawHit()),
  })
  spool.append(createRawHit())
  await write()
  expect(written.length).toBe(1)
  await write()
  expect(written.length).toBe(2)
})

test('writes a backlog as batches of the given size, with each hit in one of them, in order', async () => {
  const { spool, write, written } = await setUp({ maxHits: 3000 })
  await appendMany(spool, 12_000, (i) => ({ at: i, linkId: 1 + (i % 3) }))
  expect(spool.stats().dropped).toBe(0)
  await write()
  expect(written.length).toBeGreaterThan(2)
  expect(written.length).toBeLessThanOrEqual(4)
  const hits = await hitsOf(written)
  expect(hits.map((hit) => hit?.at)).toEqual(Array.from({ length: 12_000 }, (_, i) => i))
  expect(new Set(hits.map((hit) => hit?.id)).size).toBe(12_000)
  for (const { batch, counts } of written) expect(await countBatchClicks(batch)).toEqual(counts)
})

test('enriches the same hits again in the next pass after the disk failed', async () => {
  const { dir, spool, write, written } = await setUp()
  for (let i = 0; i < 100; i++) spool.append(createRawHit())
  await rm(dir, { recursive: true })
  await writeFile(dir, 'in the way')
  await expect(write()).rejects.toThrow()
  await expect(write()).rejects.toThrow()
  await rm(dir)
  await mkdir(dir)
  for (let i = 0; i < 10; i++) spool.append(createRawHit())
  await write()
  expect((await hitsOf(written)).length).toBe(110)
  expect(await readdir(dir)).toHaveLength(1)
})

test('discards a batch that cannot be saved and the batch enriched in the meantime, and loses no hit', async () => {
  const { dir, spool, write, written } = await setUp({
    maxHits: 1000,
    onBatch() {
      // The directory is gone when the second batch, already enriched, gets its name.
      if (written.length === 1) rmSync(dir, { recursive: true })
    },
  })
  await appendMany(spool, 12_000, (i) => ({ at: i }))
  await expect(write()).rejects.toThrow()
  expect(written.length).toBe(1)
  await mkdir(dir)
  await write()
  const hits = await hitsOf(written.slice(1))
  const expected = Array.from({ length: 12_000 }, (_, i) => i).slice(-hits.length)
  expect(hits.map((hit) => hit?.at)).toEqual(expected)
  expect(hits.length).toBeLessThan(12_000)
  expect(written.map(({ batch }) => batch.number)).toEqual(written.map((_, i) => i + 1))
})

test('leaves no unfinished batch when enriching fails, and tries again', async () => {
  let broken = true
  const { dir, spool, write, written } = await setUp({
    maxHits: 1e6,
    describer: {
      ...describer,
      enrich(id, raw, lines) {
        if (broken && raw.linkId === 9999) throw new Error('not today')
        return describer.enrich(id, raw, lines)
      },
    },
  })
  // More than one window of the spool, so that a part is written before the failure.
  await appendMany(spool, 10_000, (i) => ({ linkId: i }))
  await expect(write()).rejects.toThrow('not today')
  expect(await readdir(dir)).toEqual([])
  broken = false
  await write()
  expect(new Set((await hitsOf(written)).map((hit) => hit?.linkId)).size).toBe(10_000)
})

/** Text that breaks formats: quotes, delimiters, line ends, marks, halves of characters. */
const NASTY = [
  '"',
  "'",
  '\\',
  '\n',
  '\r\n',
  '\t',
  '\0',
  '\u0001',
  '\u007f',
  '\u2028',
  '\u202e',
  '\ufeff',
  '\ud800',
  '\udfff',
  '😀',
  ',',
  '{',
  '}',
  '\\u0000',
  '\\ud800',
  'NULL',
  '$1',
  "'; DROP TABLE hits; --",
  '</script>',
  '=1+1',
  '%00',
  '\ufffd',
]
const nasty = fc
  .array(fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary' })), { maxLength: 12 })
  .map((each) => each.join(''))
const nastyHit: fc.Arbitrary<Partial<RawHit>> = fc.record({
  linkId: fc.nat(3),
  address: fc.oneof(fc.constantFrom('8.8.8.8', '200.160.2.3', ''), nasty),
  userAgent: fc.oneof(fc.constantFrom('curl/8', createRawHit().userAgent), nasty),
  referrer: fc.oneof(
    fc.constant(''),
    nasty.map((text) => `https://x.test/${text}`),
    nasty,
  ),
  query: fc
    .tuple(nasty, nasty)
    .map(([a, b]) => `utm_source=${encodeURIComponent(a.toWellFormed())}&utm_term=${b}`),
  destinationQuery: nasty.map((text) => `utm_campaign=${text}&utm_content=${text}${text}`),
  slug: nasty,
})

quick(
  'stores hostile text in file and engine unchanged, and damages no other hit',
  async () => {
    const { root, spool, write, written } = await setUp()
    const engine = await openDuckDb({ path: join(root, 'hits.duckdb'), batchDir: join(root, 'batches') })
    closing.push(() => engine.close())
    const everything = { workspaceId: 1, start: 0, end: 1e15, classes: [...HIT_CLASSES], filters: [] }
    let recorded = 0
    await fc.assert(
      fc.asyncProperty(fc.array(nastyHit, { minLength: 20, maxLength: 60 }), async (hits) => {
        for (const hit of hits) expect(spool.append(createRawHit(hit))).toBeGreaterThan(0)
        await write()
        const last = written.at(-1)?.batch as BatchFile
        await engine.load(last)
        recorded += hits.length
        const described = (await hitsOf(written)) as Hit[]
        expect(described.length).toBe(recorded)
        expect((await engine.ask({ ...everything, groupBy: { by: 'total' } }))[0]?.clicks).toBe(recorded)
        for (const by of HIT_DIMENSIONS) {
          const rows = await engine.ask({ ...everything, groupBy: { by, limit: 1e6, nullAs: '(none)' } })
          const expected = new Map<string, number>()
          for (const hit of described)
            expected.set(hit[by] ?? '(none)', (expected.get(hit[by] ?? '(none)') ?? 0) + 1)
          const got = new Map(rows.map(({ key, clicks }) => [key as string, clicks]))
          expect(got).toEqual(expected)
        }
      }),
      { numRuns: atScale({ quick: 2, full: 12, soak: 100 }) },
    )
  },
  120_000,
)
