// Measures questions about clicks, from hits and from roll-ups: bun bench/analytics.ts [millions …] [clickhouse]
// [--rounds=5]. Every answer is compared. With `clickhouse`, it measures ClickHouse beside DuckDB.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openClickHouse } from '../server/storage/hits/clickhouse/engine.ts'
import { openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import { openReadOnly } from '../server/storage/hits/duckdb/open-read-only.ts'
import type { HitAnswer, HitEngine, HitQuery } from '../server/storage/hits/hit-engine.ts'
import { type ClickHouseServer, startClickHouse } from '../tests/support/clickhouse/clickhouse-server.ts'
import {
  createNextQuestions,
  createPageQuestions,
  NOW,
  type Question,
} from '../tests/support/hits/analytics-questions.ts'
import { BIGGEST, FOUR_PERCENT, generateHits } from '../tests/support/hits/generate-hits.ts'
import {
  formatCount,
  HOME,
  median,
  note,
  print,
  readOptions,
  readProcessorMs,
  sumProcessorMs,
  toTable,
} from './harness.ts'

const { words, rounds } = readOptions({ rounds: 5 })
const sizes = words.map(Number).filter((millions) => millions > 0)
const THREADS = { threads: 2, memoryLimitMb: 512 }
const SUBJECTS = [
  { workspaceId: BIGGEST, name: 'biggest, 25 %' },
  { workspaceId: FOUR_PERCENT, name: '4 %' },
]

/** One way to answer: an engine, from hits or from roll-ups. */
interface Way {
  name: string
  ask(query: HitQuery): Promise<HitAnswer[]>
  readMs(): number
}

interface Subject {
  ways: Way[]
  costs: (string | number)[]
  close(): Promise<void>
}

const COSTS =
  'engine; load, µs a hit; bytes a hit; rolled up in, s; processor s; roll-ups, bytes a hit'.split('; ')

interface Loading {
  dir: string
  hits: number
  pids: number[]
  /** Sorts or merges the loaded rows. */
  settle(): Promise<unknown>
}

/** @returns microseconds of processor time a hit */
async function loadHits(engine: HitEngine, { dir, hits, pids, settle }: Loading): Promise<string> {
  const path = join(dir, 'batch.ndjson')
  let processorMs = 0
  for (const { number, lines } of generateHits({ hits })) {
    writeFileSync(path, lines)
    const before = sumProcessorMs(pids)
    await engine.load({ node: 'bench', number, path })
    // The engine gets time to sort, as it has between two batches of a running server.
    if (number % 2 === 0) await settle()
    processorMs += sumProcessorMs(pids) - before
  }
  return ((processorMs * 1000) / hits).toFixed(1)
}

/** The bytes of the blocks that are in use. The file may have free ones besides. */
async function readUsedBytes(path: string): Promise<number> {
  const instance = await openReadOnly(path, `${path}.tmp`)
  const connection = await instance.connect()
  const [row] = (await connection.runAndReadAll('CALL pragma_database_size()')).getRowObjectsJS()
  connection.closeSync()
  instance.closeSync()
  return Number(row?.used_blocks) * Number(row?.block_size)
}

async function openDuckDbWays(dir: string, hits: number): Promise<Subject> {
  const path = join(dir, 'hits.duckdb')
  const pids = [process.pid]
  const loader = await openDuckDb({ path, ...THREADS })
  const loadUs = await loadHits(loader, { dir, hits, pids, settle: () => loader.sorted() })
  await loader.close()
  const bytes = await readUsedBytes(path)
  const roller = await openDuckDb({ path, ...THREADS })
  const [startedAt, before] = [performance.now(), sumProcessorMs(pids)]
  while ((await roller.rollUp(NOW)).rolled);
  const rolling = [performance.now() - startedAt, sumProcessorMs(pids) - before]
  await roller.close()
  const rolledBytes = (await readUsedBytes(path)) - bytes
  let isRaw = false
  const engine = await openDuckDb({ path, ...THREADS, withoutRollUps: () => isRaw })
  const toWay = (name: string, raw: boolean): Way => ({
    name,
    readMs: () => readProcessorMs(process.pid),
    ask(query) {
      isRaw = raw
      return engine.ask(query)
    },
  })
  const sizes = [(bytes / hits).toFixed(1), ...rolling.map((ms) => (ms / 1000).toFixed(0))]
  return {
    ways: [toWay('DuckDB, hits', true), toWay('DuckDB, roll-ups', false)],
    costs: ['DuckDB', loadUs, ...sizes, (rolledBytes / hits).toFixed(1)],
    close: () => engine.close(),
  }
}

async function openClickHouseWays(server: ClickHouseServer, dir: string, hits: number): Promise<Subject> {
  const url = await server.createDatabase()
  const database = new URL(url).pathname.slice(1)
  const engine = await openClickHouse({ urls: [url], scratchDir: dir })
  // DuckDB sorts its rows after a load; ClickHouse merges its parts.
  const settle = () => server.query('OPTIMIZE TABLE hits', database)
  const loadUs = await loadHits(engine, { dir, hits, pids: [process.pid, server.pid()], settle })
  await server.query('OPTIMIZE TABLE hits FINAL', database)
  const parts = `system.parts WHERE active AND database = '${database}'`
  const bytes = Number(await server.query(`SELECT sum(bytes_on_disk) FROM ${parts}`))
  const readMs = () => readProcessorMs(server.pid())
  return {
    ways: [{ name: 'ClickHouse, hits', ask: (query) => engine.ask(query), readMs }],
    costs: ['ClickHouse', loadUs, (bytes / hits).toFixed(1), '', '', ''],
    close: () => engine.close(),
  }
}

interface Timing {
  name: string
  /** Of each way: milliseconds of each round, and processor milliseconds of all rounds. */
  ms: number[][]
  processorMs: number[]
}

/** Asks all ways in turn, so that other load on the machine meets all. The first round warms up. */
async function measure({ name, query }: Question, ways: Way[]): Promise<Timing> {
  const timing: Timing = { name, ms: ways.map(() => []), processorMs: ways.map(() => 0) }
  for (let round = 0; round <= rounds; round++) {
    const answers: HitAnswer[][] = []
    for (let n = 0; n < ways.length; n++) {
      const index = (n + round) % ways.length
      const { ask, readMs } = ways[index] as Way
      const [startedAt, before] = [performance.now(), readMs()]
      answers.push(await ask(query))
      if (round === 0) continue
      timing.ms[index]?.push(performance.now() - startedAt)
      timing.processorMs[index] = (timing.processorMs[index] ?? 0) + readMs() - before
    }
    if (answers.some((answer) => !Bun.deepEquals(answer, answers[0])))
      throw new Error(`Different answers: ${name}`)
  }
  return timing
}

/** The questions of the page, one after the other. */
const sumTimings = (name: string, timings: Timing[], ways: Way[]): Timing => {
  const sum = (read: (timing: Timing) => number | undefined) =>
    timings.reduce((total, timing) => total + (read(timing) ?? 0), 0)
  const toSums = (way: number) =>
    Array.from({ length: rounds }, (_, round) => sum(({ ms }) => ms[way]?.[round]))
  return {
    name,
    ms: ways.map((_, way) => toSums(way)),
    processorMs: ways.map((_, way) => sum(({ processorMs }) => processorMs[way])),
  }
}

const formatMs = (ms: number) => (ms < 10 ? ms.toFixed(1) : formatCount(ms))

/** Milliseconds and processor milliseconds of each way, and how many times as fast it is as the first way. */
function toRow({ name, ms, processorMs }: Timing): string[] {
  const first = median(ms[0] ?? [])
  const cells = ms.map((times, way) => {
    const time = median(times)
    const faster = way === 0 ? '' : `, ${(first / time).toFixed(1)}×`
    return `${formatMs(time)} / ${formatMs((processorMs[way] ?? 0) / rounds)}${faster}`
  })
  return [name, ...cells]
}

async function measureSize(millions: number, server: ClickHouseServer | undefined): Promise<void> {
  const [dir, hits] = [join(HOME, 'analytics'), Math.round(millions * 1e6)]
  mkdirSync(dir)
  note(`${millions} million clicks`)
  const subjects = [await openDuckDbWays(dir, hits)]
  if (server) subjects.push(await openClickHouseWays(server, dir, hits))
  const ways = subjects.flatMap((subject) => subject.ways)
  const costs = subjects.map((subject) => subject.costs)
  print(`\n## ${millions} million clicks`, toTable(COSTS, costs))
  for (const { workspaceId, name } of SUBJECTS) {
    const ask = async (questions: Question[]) => {
      const timings: Timing[] = []
      for (const question of questions) timings.push(await measure(question, ways))
      return timings
    }
    const page = await ask(createPageQuestions(workspaceId))
    const all = [...page, ...(await ask(createNextQuestions(workspaceId)))]
    const rows = [sumTimings('**all eleven**', page, ways), ...all].map(toRow)
    print(`\n### ${name}: ms / processor ms`, toTable(['question', ...ways.map((way) => way.name)], rows))
  }
  for (const subject of subjects) await subject.close()
  rmSync(dir, { recursive: true })
}

const server = words.includes('clickhouse') ? await startClickHouse() : undefined
for (const millions of sizes.length > 0 ? sizes : [1, 5, 20]) await measureSize(millions, server)
await server?.end()
process.exit(0)
