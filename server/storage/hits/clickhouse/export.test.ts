import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createHit, createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import { anyHit, anyQuery, SPAN } from '../../../../tests/contracts/hit-questions.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import { atScale, quick } from '../../../../tests/support/suite.ts'
import { openDuckDb } from '../duckdb/engine.ts'
import { createMemoryInstance } from '../duckdb/memory-instance.ts'
import type { Hit } from '../hit.ts'
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type HitEngine,
  type HitExport,
  type HitSelection,
} from '../hit-engine.ts'
import { createClickHouseClient } from './client.ts'
import { openClickHouse } from './engine.ts'
import { openClickHouseExporter } from './export.ts'

let server: ClickHouseServer
let url: string
let directory: string
let clickHouse: HitEngine
let duckDb: HitEngine
let exported = 0

const TEXTS = [
  '=1+1',
  'a,b',
  'say "hi"',
  "it's",
  'two\r\nlines',
  '\t=1',
  '\\N',
  '',
  '🦆',
  '\u202Ex',
  'NULL',
  '\\',
  '\u0001\u007F',
]
const strangeHits = TEXTS.map((text, n) =>
  createHit({
    at: n,
    city: text,
    referrer: text,
    referrerUrl: text,
    utmSource: text,
    utmMedium: text,
    browser: text,
  }),
)
const hugeHits = ['0', '9223372036854775808', '18446744073709551615'].map((visitor) =>
  createHit({ at: 5, visitor }),
)
const randomHits = fc.sample(anyHit, { numRuns: 1_200, seed: 3 })
/** More than one slice. */
const MANY = 30_000
const OTHER_WORKSPACE = 7
const manyHits = Array.from({ length: MANY }, (_, n) =>
  createHit({ workspaceId: OTHER_WORKSPACE, at: n - (n % 3), utmCampaign: `campaign ${n % 99}` }),
)

beforeAll(async () => {
  server = await getClickHouse()
  url = await server.takeDatabase()
  directory = mkdtempSync(join(tmpdir(), 'clickhouse-export-'))
  clickHouse = await openClickHouse({ urls: [url], scratchDir: directory })
  duckDb = await openDuckDb({ path: join(directory, 'hits.duckdb'), threads: 1 })
  const path = join(directory, 'batch')
  for (const [node, hits] of Object.entries({
    a: [...strangeHits, ...hugeHits, ...randomHits],
    b: manyHits,
  })) {
    writeFileSync(path, hits.map((each: Hit) => `${JSON.stringify(each)}\n`).join(''))
    for (const engine of [clickHouse, duckDb]) await engine.load({ node, number: 1, path })
  }
}, CLICKHOUSE_START_MS)
afterAll(async () => {
  for (const engine of [clickHouse, duckDb]) await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

const NAMES = [
  { id: 1, slug: 'spring', domain: 'tow.example' },
  { id: 2, slug: '=cmd|calc', domain: '@links.example' },
]

function prepare(format: ExportFormat, part: Partial<HitSelection> = {}): HitExport {
  const { groupBy: _, ...selection } = createHitQuery(part)
  const dir = join(directory, String(++exported))
  mkdirSync(dir)
  const links = join(dir, 'links')
  writeFileSync(links, NAMES.map((each) => `${JSON.stringify(each)}\n`).join(''))
  return { selection, format, dir, links }
}
const never = new AbortController().signal

async function readParquet(path: string) {
  const instance = await createMemoryInstance(200, join(directory, 'reader.tmp'))
  const connection = await instance.connect()
  try {
    const columns = await connection.runAndReadAll(`DESCRIBE SELECT * FROM read_parquet('${path}')`)
    const rows = await connection.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM read_parquet('${path}')`)
    return { columns: columns.getRows(), rows: rows.getRows() }
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** The file of each engine. */
async function exportBoth(format: ExportFormat, part?: Partial<HitSelection>) {
  const files = []
  for (const engine of [clickHouse, duckDb]) files.push(await engine.export(prepare(format, part), never))
  return files.map(({ path, bytes }) => {
    expect(bytes).toBe(readFileSync(path).length)
    return path
  }) as [string, string]
}

async function expectSameFiles(format: ExportFormat, part?: Partial<HitSelection>): Promise<string> {
  const [ours, theirs] = await exportBoth(format, part)
  if (format === 'parquet') expect(await readParquet(ours)).toEqual(await readParquet(theirs))
  else expect(readFileSync(ours).equals(readFileSync(theirs))).toBe(true)
  return ours
}

/** An export of any selection, below, is CSV. */
const FORMATS = atScale<readonly ExportFormat[]>({
  quick: ['parquet'],
  full: EXPORT_FORMATS,
  soak: EXPORT_FORMATS,
})

quick.each(FORMATS)('an export as %s is the same as from DuckDB', async (format) => {
  const all = await expectSameFiles(format, { workspaceId: 1 })
  if (format !== 'parquet') expect(readFileSync(all, 'utf8').split('\n').length).toBeGreaterThan(60)
  await expectSameFiles(format, { workspaceId: 99 })
  await expectSameFiles(format, { workspaceId: OTHER_WORKSPACE })
})

test('an export of any selection is the same as from DuckDB', async () => {
  await fc.assert(
    fc.asyncProperty(anyQuery, async ({ groupBy: _, ...selection }) => {
      await expectSameFiles('csv', { ...selection, end: SPAN })
    }),
    { numRuns: atScale({ quick: 2, full: 8, soak: 150 }) },
  )
}, 600_000)

test('an export leaves no other file behind', async () => {
  for (const format of EXPORT_FORMATS) {
    const request = prepare(format)
    await clickHouse.export(request, never)
    expect(readdirSync(request.dir).sort()).toEqual([`clicks.${format}`, 'links'])
  }
})

test('an export ends when it is canceled, asks the server no more, and questions go on', async () => {
  const client = createClickHouseClient([url])
  const gone = new AbortController()
  const reason = new Error('gone')
  let slices = 0
  const exporter = openClickHouseExporter(
    {
      select: client.select,
      stream: (sql, format, call) => {
        slices++
        gone.abort(reason)
        return client.stream(sql, format, call)
      },
    },
    directory,
  )
  const request = prepare('csv', { workspaceId: OTHER_WORKSPACE })
  await expect(exporter.run(request, gone.signal)).rejects.toBe(reason)
  await expect(exporter.run(prepare('csv'), gone.signal)).rejects.toBe(reason)
  expect(slices).toBe(1)
  await client.close()
  const [total] = await clickHouse.ask(createHitQuery({ workspaceId: OTHER_WORKSPACE }))
  expect(total?.clicks).toBe(MANY)
})

test('a canceled export closes its connection, at which the server ends a statement that reads only', async () => {
  const asked: URLSearchParams[] = []
  const closed = Promise.withResolvers<void>()
  const gone = new AbortController()
  const listener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      asked.push(new URL(request.url).searchParams)
      if (asked.length === 1) return new Response('[0, 5]\n')
      request.signal.addEventListener('abort', () => closed.resolve())
      gone.abort(new Error('gone'))
      return new Promise(() => undefined)
    },
  })
  const client = createClickHouseClient([`http://127.0.0.1:${listener.port}/default`])
  const running = openClickHouseExporter(client, directory).run(prepare('csv'), gone.signal)
  await expect(running).rejects.toThrow('gone')
  await closed.promise
  expect(asked).toHaveLength(2)
  for (const settings of asked)
    expect(Object.fromEntries(settings)).toMatchObject({
      readonly: '2',
      cancel_http_readonly_queries_on_client_close: '1',
      max_execution_time: '30',
      max_memory_usage: '2000000000',
      max_threads: '4',
    })
  await client.close()
  await listener.stop(true)
})

test('closing an engine ends its exports', async () => {
  const engine = await openClickHouse({ urls: [url], scratchDir: directory })
  const running = engine.export(prepare('csv', { workspaceId: OTHER_WORKSPACE }), never)
  running.catch(() => undefined)
  await engine.close()
  await expect(running).rejects.toMatchObject({ code: 'unavailable' })
})

test('an export is unavailable when the server goes away, and writes only into its directory', async () => {
  const client = createClickHouseClient([server.url.replace(/:[^:@]+@/, ':wrong@')])
  const exporter = openClickHouseExporter(client, directory)
  await expect(exporter.run(prepare('csv'), never)).rejects.toMatchObject({ code: 'unavailable' })
  await client.close()
  for (const dir of [tmpdir(), join(directory, '..', 'elsewhere'), directory])
    await expect(clickHouse.export({ ...prepare('csv'), dir }, never)).rejects.toThrow('permission')
})
