// Measures the processor time of rolling up days beside that of loading and sorting them, in one process, with hits of
// another file: bun bench/analytics-day-cost.ts <source file> <directory>. It prints JSON.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { DAY_MS } from '../server/lib/utc-day.ts'
import { type DuckDbEngine, openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import { HIT_TYPES } from '../server/storage/hits/duckdb/layout.ts'
import { openReadOnly } from '../server/storage/hits/duckdb/open-read-only.ts'
import { quoteLiteral } from '../server/storage/hits/duckdb/values.ts'
import type { Hit } from '../server/storage/hits/hit.ts'
import { HIT_COLUMNS } from '../server/storage/hits/hit-columns.ts'
import { END, GENERATED_DAYS } from './hits-generator.ts'

/** Enough for four runs of the sorter. */
const HITS = 1_000_000
/** The days before are left out, and one day after is for live batches. */
const FIRST_DAY = 3
const LAST_DAY = GENERATED_DAYS - 3
/** Batches of a backlog, which make loading as cheap as it can be. */
const BATCH_HITS = 100_000
/** A day is closed some minutes after its end. */
const CLOSED_AFTER_MS = 60 * 60 * 1000
/** A server ships twice a second. */
const LIVE_BATCHES_A_DAY = 2 * 86_400
const LIVE_BATCHES = 200

export interface DayCost {
  days: number
  hits: number
  /** Seconds of processor time for all days. */
  ingest: number
  rollUp: number
  /** Seconds of processor time for one batch as a server ships it all day long. */
  liveBatch: number
  liveBatchHits: number
}

interface DayBatches {
  start: number
  hits: number
  paths: string[]
}

const [source = '', directory = ''] = process.argv.slice(2)
mkdirSync(directory, { recursive: true })

const COLUMNS = (Object.keys(HIT_TYPES) as (keyof Hit)[])
  .map((field) => `${HIT_COLUMNS[field]}${field === 'visitor' ? '::VARCHAR' : ''} AS "${field}"`)
  .join(', ')

/** Writes the hits of a day as batches, in the order of their time. */
async function writeDay(connection: DuckDBConnection, day: number): Promise<DayBatches> {
  const start = END - (GENERATED_DAYS - day) * DAY_MS
  const from = `FROM hits WHERE recorded_at >= ${start} AND recorded_at < ${start + DAY_MS}`
  const hits = Number((await connection.runAndReadAll(`SELECT count(*) ${from}`)).getRows()[0]?.[0])
  const paths: string[] = []
  for (let offset = 0; offset < hits; offset += BATCH_HITS) {
    const path = join(directory, `${day}-${offset}.ndjson`)
    await connection.run(
      `COPY (SELECT ${COLUMNS} ${from} ORDER BY recorded_at, id LIMIT ${BATCH_HITS} OFFSET ${offset})
       TO ${quoteLiteral(path)} (FORMAT json)`,
    )
    paths.push(path)
  }
  return { start, hits, paths }
}

async function writeDays(): Promise<DayBatches[]> {
  const instance = await openReadOnly(source, `${directory}.tmp`)
  const connection = await instance.connect()
  // Sorting a day of a large instance needs more than a reader beside a server may take.
  await connection.run("SET memory_limit = '4GB'")
  const days: DayBatches[] = []
  let hits = 0
  for (let day = FIRST_DAY; hits < HITS && day <= LAST_DAY; day++) {
    const written = await writeDay(connection, day)
    days.push(written)
    hits += written.hits
  }
  days.push(await writeDay(connection, FIRST_DAY + days.length))
  connection.closeSync()
  instance.closeSync()
  return days
}

/** @returns seconds of processor time of all threads */
async function measure(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

type LoadFile = (path: string) => Promise<void>

async function measureDays(engine: DuckDbEngine, load: LoadFile, days: DayBatches[]) {
  let [ingest, rollUp] = [0, 0]
  for (const { start, paths } of days) {
    ingest += await measure(async () => {
      for (const path of paths) await load(path)
      await engine.sorted()
    })
    rollUp += await measure(async () => {
      while ((await engine.rollUp(start + DAY_MS + CLOSED_AFTER_MS)).rolled);
    })
  }
  return { ingest, rollUp }
}

async function measureLiveBatch(load: LoadFile, { hits, paths }: DayBatches) {
  const liveBatchHits = Math.max(1, Math.round(hits / LIVE_BATCHES_A_DAY))
  const lines = readFileSync(paths[0] as string, 'utf8').split('\n')
  const files = Array.from({ length: LIVE_BATCHES }, (_, n) => {
    const path = join(directory, `live-${n}.ndjson`)
    writeFileSync(path, `${lines.slice(n * liveBatchHits, (n + 1) * liveBatchHits).join('\n')}\n`)
    return path
  })
  const seconds = await measure(async () => {
    for (const path of files) await load(path)
  })
  return { liveBatchHits, liveBatch: seconds / LIVE_BATCHES }
}

const written = await writeDays()
const days = written.slice(0, -1)
const engine = await openDuckDb({
  path: join(directory, 'days.duckdb'),
  threads: 2,
  memoryLimitMb: 512,
  rollUpRestMs: 0,
})
let number = 0
const load: LoadFile = (path) => engine.load({ node: 'bench', number: ++number, path })
const cost: DayCost = {
  days: days.length,
  hits: days.reduce((sum, { hits }) => sum + hits, 0),
  ...(await measureDays(engine, load, days)),
  ...(await measureLiveBatch(load, written.at(-1) as DayBatches)),
}
await engine.close()
rmSync(directory, { recursive: true, force: true })
process.stdout.write(JSON.stringify(cost))
