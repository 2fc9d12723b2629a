import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { createHit, createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import { full, quick } from '../../../../tests/support/suite.ts'
import { toInertCell } from '../../../lib/formats/csv-line.ts'
import { toSource, toTrafficChannel } from '../../sources/traffic-channel.ts'
import { toStoredVisitor } from '../day-visitor.ts'
import { type Hit, NO_VISITOR } from '../hit.ts'
import { EXPORT_FORMATS, type ExportFormat, type HitEngine, type HitSelection } from '../hit-engine.ts'
import { openDuckDb } from './engine.ts'

let directory: string
let engine: HitEngine
let batches: number
let exported: number

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'export-'))
  mkdirSync(join(directory, 'batches'))
  mkdirSync(join(directory, 'tmp'))
  batches = 0
  exported = 0
  engine = await openDuckDb({
    path: join(directory, 'hits.duckdb'),
    batchDir: join(directory, 'batches'),
    scratchDir: join(directory, 'tmp'),
  })
})
afterEach(async () => {
  await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

async function load(hits: Hit[]) {
  const path = join(directory, 'batches', `${++batches}`)
  writeFileSync(path, hits.map((each) => `${JSON.stringify(each)}\n`).join(''))
  await engine.load({ node: 'a', number: batches, path })
}

const NAMES = [
  { id: 1, slug: 'spring', domain: 'tow.example' },
  { id: 2, slug: '=cmd|calc', domain: '@links.example' },
]

function prepared(format: ExportFormat, part: Partial<HitSelection> = {}) {
  const { groupBy: _, ...selection } = createHitQuery(part)
  const dir = join(directory, 'tmp', `${++exported}`)
  mkdirSync(dir)
  const links = join(dir, 'links')
  writeFileSync(links, NAMES.map((each) => `${JSON.stringify(each)}\n`).join(''))
  return { selection, format, dir, links }
}
const never = new AbortController().signal
const exportAll = (format: ExportFormat, part?: Partial<HitSelection>) =>
  engine.export(prepared(format, part), never)

const READERS: Record<ExportFormat, (path: string) => string> = {
  csv: (path) =>
    `read_csv('${path}', header = true, all_varchar = true, strict_mode = true, allow_quoted_nulls = false)`,
  ndjson: (path) => `read_json('${path}', format = 'newline_delimited')`,
  parquet: (path) => `read_parquet('${path}')`,
}

/** Reads a file with a DuckDB of its own, as the reader of an export would. */
async function elsewhere<T>(ask: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
  const instance = await DuckDBInstance.create(':memory:', { preserve_insertion_order: 'true', threads: '1' })
  const connection = await instance.connect()
  try {
    await connection.run("SET TimeZone = 'UTC'")
    return await ask(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** Every cell of the file, as text. */
const reimported = (format: ExportFormat, path: string) =>
  elsewhere(async (connection) => {
    const answer = await connection.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM ${READERS[format](path)}`)
    return answer.getRowObjects() as Record<string, string | null>[]
  })

/** The number of rows, and of those that stand before an older row. */
const rowsIn = (format: ExportFormat, path: string) =>
  elsewhere(async (connection) => {
    const answer = await connection.runAndReadAll(
      `SELECT count(*), count(*) FILTER (before::BIGINT > id::BIGINT) FROM (SELECT id, lag(id) OVER () AS before FROM ${READERS[format](path)})`,
    )
    return answer.getRows()[0]?.map(Number)
  })

/** More than one slice (see `SLICE_HITS`). */
const MANY = 30_000

const TEXTS = [
  'country',
  'region',
  'city',
  'continent',
  'device',
  'browser',
  'os',
  'referrer',
  'referrerUrl',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
] as const

const COLUMNS = [
  'id',
  'time',
  'linkId',
  'slug',
  'domain',
  'class',
  'trigger',
  ...TEXTS,
  'visitor',
  'source',
  'channel',
  'imported',
  'variant',
]

/** The statement and the function write the same, although DuckDB has another engine for patterns. */
const shielded = (text: string | null) => (text === null ? null : toInertCell(text))

function toVisitorCell({ visitor, at }: Hit): string | null {
  if (visitor === NO_VISITOR) return null
  return `v${BigInt(toStoredVisitor(visitor, at)).toString(16).padStart(16, '0')}`
}

/** The row that is expected for a hit, as text. */
function expected(format: ExportFormat, of: Hit): Record<string, string | null> {
  const name = NAMES.find(({ id }) => id === of.linkId)
  const text = (value: string | null) => (format === 'csv' ? shielded(value) : value)
  const time = new Date(of.at).toISOString()
  return {
    id: String(of.id),
    // DuckDB prints timestamps in its own format. CSV keeps the text, and JSON is read as a timestamp.
    time: format === 'csv' ? time : shown(time, format),
    linkId: String(of.linkId),
    slug: text(name?.slug ?? null),
    domain: text(name?.domain ?? null),
    class: of.class,
    trigger: of.trigger,
    ...Object.fromEntries(TEXTS.map((column) => [column, text(of[column])])),
    visitor: toVisitorCell(of),
    source: text(toSource(of)),
    channel: toTrafficChannel(of),
    imported: String(of.importId !== null),
    variant: text(of.variant ?? null),
  }
}

const shown = (time: string, format: ExportFormat) => {
  const plain = time
    .replace('T', ' ')
    .replace('Z', '')
    .replace(/\.?0+$/, '')
  return format === 'parquet' ? `${plain}+00` : plain
}

const HOSTILE = [
  'plain',
  '',
  ' ',
  'a,b',
  'say "hi"',
  '"',
  '""',
  "it's",
  'two\nlines',
  'two\r\nlines',
  '\n',
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  "'=1",
  '\n=1',
  'a\r\n=1\n\t@2\r\r-3',
  '\r\r',
  '＝1+1',
  '＋1\n－1',
  '＠SUM(A1)',
  '﹦1',
  '\u200b\ufeff=1',
  '\u3000\u00a0\u2028=1',
  '"=1',
  ' "\x7f\x85 ＝1',
  '=HYPERLINK("https://evil.example","x,y")',
  '\u202Ereversed\u202C',
  'שלום, مرحبا',
  '🦆',
  'a\u0001b\u007F',
  '#comment',
  'NULL',
  'null',
  '\\N',
  '\\',
  '\\"',
  ';|\t',
  '2026-01-01',
  '1e5',
  'true',
  '{"a":1}',
  '<script>alert(1)</script>',
  '%00%0a',
  'a \uFEFF in it',
  'x'.repeat(1024),
]

describe.each([...EXPORT_FORMATS])('an export as %s', (format) => {
  test('has every hit unchanged, whatever visitors wrote into it', async () => {
    const hits = HOSTILE.flatMap((text, i) => [
      createHit({ linkId: 1 + (i % 3), city: text, browser: text, utmSource: text, utmContent: text }),
      createHit({
        region: text,
        referrer: text,
        referrerUrl: text,
        utmTerm: text,
        variant: text,
        trigger: 'qr',
        country: 'DE',
      }),
    ])
    hits.push(createHit({ visitor: String(2n ** 64n - 1n) }), createHit({ visitor: NO_VISITOR, importId: 7 }))
    await load(hits)
    const { path, bytes } = await exportAll(format)
    expect(bytes).toBe(readFileSync(path).length)
    const rows = await reimported(format, path)
    expect(Object.keys(rows[0] ?? {})).toEqual(COLUMNS)
    expect(rows).toEqual(hits.map((each) => expected(format, each)))
  })

  test('has only the selected clicks, oldest first', async () => {
    const T = Date.parse('2026-06-01T00:00:00Z')
    const wanted = [5, 1, 4, 2, 3].map((hour) => createHit({ at: T + hour * 3_600_000, country: 'DE' }))
    await load([
      createHit({ at: T - 1, country: 'DE' }),
      ...wanted,
      createHit({ at: T + 86_400_000, country: 'DE' }),
      createHit({ at: T + 1, country: 'US' }),
      createHit({ at: T + 1, country: 'DE', class: 'bot' }),
      createHit({ at: T + 1, country: 'DE', outcome: 'expired' }),
      createHit({ at: T + 1, country: 'DE', workspaceId: 2 }),
      createHit({
        at: T + 1,
        country: 'DE',
        workspaceId: 0,
        linkId: 0,
        outcome: 'missing',
        unknownSlug: 'x',
      }),
    ])
    const { path } = await exportAll(format, {
      start: T,
      end: T + 86_400_000,
      filters: [{ column: 'country', values: ['DE'], negate: false }],
    })
    const rows = await reimported(format, path)
    expect(rows.map(({ id }) => id)).toEqual(
      wanted.toSorted((a, b) => a.at - b.at).map(({ id }) => String(id)),
    )
  })

  test('without clicks is still a file', async () => {
    const { path, bytes } = await exportAll(format)
    if (format === 'ndjson') expect(bytes).toBe(0)
    else expect(await reimported(format, path)).toEqual([])
    if (format === 'csv') expect(readFileSync(path, 'utf8')).toBe(`${COLUMNS.join(',')}\n`)
  })

  test('leaves no other file behind', async () => {
    await load(Array.from({ length: 10 }, () => createHit()))
    const { path } = await exportAll(format)
    expect(readdirSync(join(path, '..')).sort()).toEqual([`clicks.${format}`, 'links'])
  })

  /** The formats end in the same way. */
  const one = format === 'csv' ? quick : full
  one('ends when it is canceled, and questions go on', async () => {
    await load(Array.from({ length: MANY }, () => createHit()))
    const gone = new AbortController()
    const started = engine.export(prepared(format), gone.signal)
    const late = engine.export(prepared(format), gone.signal)
    gone.abort(new Error('gone'))
    expect(await Promise.allSettled([started, late])).toEqual([
      { status: 'rejected', reason: gone.signal.reason },
      { status: 'rejected', reason: gone.signal.reason },
    ])
    expect((await engine.ask(createHitQuery()))[0]?.clicks).toBe(MANY)
    expect(await rowsIn(format, (await exportAll(format)).path)).toEqual([MANY, 0])
  })
})

test('a CSV file has no formula, and its numbers stay numbers', async () => {
  const formulas = HOSTILE.filter((text) => toInertCell(text) !== text)
  await load(formulas.map((text) => createHit({ linkId: 2, utmSource: text, city: text, referrer: text })))
  const rows = await reimported('csv', (await exportAll('csv')).path)
  expect(rows).toHaveLength(formulas.length)
  for (const row of rows) {
    for (const cell of Object.values(row))
      expect(cell ?? '').not.toMatch(/^[\t\r]|(^|[\r\n])[\s"]*[=+\-@＝＋－＠]/)
    expect(row.slug).toBe("'=cmd|calc")
    expect(row.id).toMatch(/^\d+$/)
    expect(row.linkId).toBe('2')
  }
})

quick('closing the engine ends its exports', async () => {
  await load(Array.from({ length: MANY }, () => createHit()))
  const running = engine.export(prepared('csv'), never)
  running.catch(() => undefined)
  await engine.close()
  expect(running).rejects.toMatchObject({ code: 'unavailable' })
})

test('an export can write only into the scratch directory', async () => {
  await load([createHit()])
  const outside = mkdtempSync(join(tmpdir(), 'outside-'))
  const request = { ...prepared('csv'), dir: outside }
  expect(engine.export(request, never)).rejects.toThrow(/permission/i)
  rmSync(outside, { recursive: true })
})

full(
  '300,000 clicks take little more memory than 50,000, and come in order',
  async () => {
    for (const country of ['DE', 'FR', 'FR', 'FR', 'FR', 'FR'])
      await load(
        Array.from({ length: 50_000 }, (_, i) => createHit({ country, utmCampaign: `campaign ${i % 99}` })),
      )
    await engine.close()
    const requests = EXPORT_FORMATS.map((format) => ({
      few: prepared(format, { filters: [{ column: 'country', values: ['DE'], negate: false }] }),
      all: prepared(format),
    }))
    const child = Bun.spawn([process.execPath, '-e', exportProgram(requests)], { stdout: 'pipe' })
    const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
    expect(code).toBe(0)
    const measured: { fewMb: number; allMb: number; paths: string[] } = JSON.parse(text)
    // Sorting and the look-up of sources have buffers within the engine's limit: 50 to 55 MB here.
    expect(measured.allMb - measured.fewMb).toBeLessThan(90)
    for (const [i, format] of EXPORT_FORMATS.entries())
      expect(await rowsIn(format, measured.paths[i] as string)).toEqual([300_000, 0])
  },
  120_000,
)

/**
 * A program that exports and prints the most memory it had. The memory of the test run cannot tell: it belongs to every
 * test before this one too.
 */
const exportProgram = (requests: object[]) => `
  import { openDuckDb } from ${JSON.stringify(join(import.meta.dir, 'engine.ts'))}
  const engine = await openDuckDb(${JSON.stringify({
    path: join(directory, 'hits.duckdb'),
    batchDir: join(directory, 'batches'),
    scratchDir: join(directory, 'tmp'),
  })})
  const never = new AbortController().signal
  const requests = ${JSON.stringify(requests)}
  let peak = 0
  setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss() / 1024 / 1024) }, 5)
  // Sorting goes on after a start, and takes memory of its own.
  await engine.sorted()
  await engine.ask(${JSON.stringify(createHitQuery({ groupBy: { by: 'utmCampaign', limit: 10, nullAs: '' } }))})
  Bun.gc(true)
  peak = 0
  for (const { few } of requests) await engine.export(few, never)
  const fewMb = peak
  Bun.gc(true)
  peak = 0
  const paths = []
  for (const { all } of requests) paths.push((await engine.export(all, never)).path)
  process.stdout.write(JSON.stringify({ fewMb, allMb: peak, paths }))
  await engine.close()
  process.exit(0)`
