// Measures what a question costs in ClickHouse and in DuckDB: bun bench/clickhouse-questions.ts [--millions=2] [--rounds=10].
// Both engines have the same hits and answer in turn, so that other load on the machine meets both. It compares
// processor time, prints a table for docs/benchmarks.md, and fails when two answers differ.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openClickHouse } from '../server/storage/hits/clickhouse/engine.ts'
import { openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import type { HitAnswer, HitEngine } from '../server/storage/hits/hit-engine.ts'
import { type ClickHouseServer, startClickHouse } from '../tests/support/clickhouse/clickhouse-server.ts'
import { createQuestions, type Question } from './analytics-questions.ts'
import { BIGGEST, FOUR_PERCENT, generateHits } from './hits-generator.ts'
import { formatVerdict } from './verdict.ts'

const RATIO_MAX = 2
const TICK_MS = 10

const { values: options } = parseArgs({
  options: { millions: { type: 'string', default: '2' }, rounds: { type: 'string', default: '10' } },
})
const rounds = Number(options.rounds)

/** Processor time of another process since it started. It counts in ticks of 10 ms, so a question is asked often. */
function readProcessorMs(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const values = fields.split(' ')
  return (Number(values[11]) + Number(values[12])) * TICK_MS
}

function readOwnProcessorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function measure(readMs: () => number, work: () => Promise<unknown>): Promise<number> {
  const before = readMs()
  await work()
  return readMs() - before
}

interface Subject {
  name: string
  engine: HitEngine
  readMs(): number
}

async function load(subjects: Subject[], directory: string, hits: number) {
  for (const { number, lines } of generateHits({ hits, perBatch: 250_000 })) {
    const path = join(directory, 'batch')
    writeFileSync(path, lines)
    for (const { engine } of subjects) await engine.load({ node: 'bench', number, path })
    process.stderr.write(`batch ${number}\n`)
  }
}

/** @returns the processor time of a question in each engine, in milliseconds */
async function compare(subjects: Subject[], { name, query }: Question): Promise<number[]> {
  const spent = subjects.map(() => 0)
  const answers: HitAnswer[][] = []
  for (let round = 0; round <= rounds; round++) {
    for (const [index, { engine, readMs }] of subjects.entries()) {
      const ms = await measure(readMs, async () => {
        const answer = await engine.ask(query)
        if (round === 0) answers.push(answer)
      })
      // The first round warms up.
      if (round > 0) spent[index] = (spent[index] as number) + ms
    }
  }
  if (!Bun.deepEquals(answers[0], answers[1])) throw new Error(`The answers differ: ${name}`)
  return spent.map((ms) => ms / rounds)
}

async function run(server: ClickHouseServer, directory: string) {
  const url = await server.createDatabase()
  const duckDb = await openDuckDb({ path: join(directory, 'hits.duckdb') })
  const clickHouse = await openClickHouse({ urls: [url], scratchDir: directory })
  const subjects: Subject[] = [
    { name: 'DuckDB', engine: duckDb, readMs: readOwnProcessorMs },
    { name: 'ClickHouse', engine: clickHouse, readMs: () => readProcessorMs(server.pid()) },
  ]
  await load(subjects, directory, Number(options.millions) * 1_000_000)
  await duckDb.sorted()
  // ClickHouse has merged the parts of past months long ago.
  const database = new URL(url).pathname.slice(1)
  await server.query('OPTIMIZE TABLE hits FINAL', database)
  const size = `SELECT sum(bytes_on_disk) / sum(rows) FROM system.parts WHERE active AND database = '${database}'`
  const lines: string[] = []
  let missed = 0
  for (const workspace of [BIGGEST, FOUR_PERCENT]) {
    for (const question of createQuestions(workspace)) {
      const [ours, theirs] = (await compare(subjects, question)) as [number, number]
      const ratio = theirs / ours
      if (ratio > RATIO_MAX) missed++
      const who = workspace === BIGGEST ? 'biggest' : '4 %'
      const cells = [
        who,
        question.name,
        ours.toFixed(1),
        theirs.toFixed(1),
        ratio.toFixed(2),
        formatVerdict(ratio <= RATIO_MAX),
      ]
      lines.push(`| ${cells.join(' | ')} |`)
      process.stderr.write(`${lines.at(-1)}\n`)
    }
  }
  const table = [
    '| workspace | question | DuckDB, CPU ms | ClickHouse, CPU ms | ratio | at most 2 |',
    '|---|---|---|---|---|---|',
    ...lines,
  ]
  const bytes = Number(await server.query(size)).toFixed(1)
  process.stdout.write(
    `${table.join('\n')}\n\nMissed: ${missed} of ${lines.length}. ClickHouse keeps ${bytes} bytes a hit.\n`,
  )
  await duckDb.close()
  await clickHouse.close()
}

const directory = mkdtempSync(join(tmpdir(), 'towpath-clickhouse-'))
const server = await startClickHouse()
try {
  await run(server, directory)
} finally {
  await server.end()
  rmSync(directory, { recursive: true, force: true })
}
process.exit(0)
