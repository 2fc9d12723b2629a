// Measures what loading batches costs in ClickHouse beside DuckDB: bun bench/clickhouse-ingest.ts [hits]. Hits per second
// of processor time, of this process and of ClickHouse's, in alternating rounds of one run. It also says what a hit
// takes on the disk.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setLogLevel } from '../server/lib/log.ts'
import { openClickHouse } from '../server/storage/hits/clickhouse/engine.ts'
import { openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import type { Batch, HitEngine } from '../server/storage/hits/hit-engine.ts'
import { type ClickHouseServer, startClickHouse } from '../tests/support/clickhouse/clickhouse-server.ts'
import { generateHits } from './hits-generator.ts'
import { median } from './median.ts'
import { formatVerdict } from './verdict.ts'

const HITS = Number(process.argv[2] ?? 2_000_000)
const PER_BATCH = 100_000
const ROUNDS = 3
const LEAST_RATIO = 0.5
/** Linux counts processor time in ticks of 1/100 s. */
const TICKS_PER_SECOND = 100

/** The seconds of processor time that a process and its threads have used (proc(5), fields 14 and 15). */
function readProcessorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

function writeBatches(dir: string): Batch[] {
  mkdirSync(dir)
  const batches: Batch[] = []
  for (const { number, lines } of generateHits({ hits: HITS, perBatch: PER_BATCH })) {
    const path = join(dir, `${number}.ndjson`)
    writeFileSync(path, lines)
    batches.push({ node: 'bench', number, path })
  }
  return batches
}

/** @returns hits per second of processor time, of all these processes */
async function measureLoad(
  engine: HitEngine,
  batches: Batch[],
  pids: number[],
  settle: () => Promise<void>,
): Promise<number> {
  const read = () => pids.reduce((sum, pid) => sum + readProcessorSeconds(pid), 0)
  const before = read()
  for (const batch of batches) await engine.load(batch)
  await settle()
  return HITS / (read() - before)
}

async function measureDuckDb(dir: string, batches: Batch[]): Promise<number> {
  const engine = await openDuckDb({ path: join(dir, 'hits.duckdb'), batchDir: dir })
  const rate = await measureLoad(engine, batches, [process.pid], () => engine.sorted())
  await engine.close()
  return rate
}

interface ClickHouseFigures {
  rate: number
  bytesPerHit: number
}

async function measureClickHouse(
  dir: string,
  batches: Batch[],
  server: ClickHouseServer,
): Promise<ClickHouseFigures> {
  const url = await server.createDatabase()
  const database = new URL(url).pathname.slice(1)
  const engine = await openClickHouse({ urls: [url], scratchDir: dir })
  // As DuckDB sorts what arrived, ClickHouse merges it.
  const merge = async () => {
    await server.query('OPTIMIZE TABLE hits', database)
  }
  const rate = await measureLoad(engine, batches, [process.pid, server.pid()], merge)
  await server.query('OPTIMIZE TABLE hits FINAL', database)
  const bytes = await server.query(
    `SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '${database}' AND table = 'hits'`,
  )
  const rows = Number(await server.query('SELECT count() FROM hits', database))
  if (rows !== HITS) throw new Error(`${HITS} hits were loaded, and ${rows} are there`)
  await engine.close()
  await server.query(`DROP DATABASE ${database}`)
  return { rate, bytesPerHit: Number(bytes) / HITS }
}

setLogLevel('error')
const dir = mkdtempSync(join(tmpdir(), 'towpath-clickhouse-bench-'))
const server = await startClickHouse()
try {
  const batches = writeBatches(join(dir, 'batches'))
  const rounds: { duckDb: number; clickHouse: ClickHouseFigures }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const duckDb = await measureDuckDb(dir, batches)
    const clickHouse = await measureClickHouse(dir, batches, server)
    rmSync(join(dir, 'hits.duckdb'), { force: true })
    rounds.push({ duckDb, clickHouse })
    process.stderr.write(
      `round ${round + 1} of ${ROUNDS}: ${Math.round(duckDb)} / ${Math.round(clickHouse.rate)}\n`,
    )
  }
  const format = (rates: number[]) => Math.round(median(rates)).toLocaleString('en-US')
  const ratio = median(rounds.map(({ duckDb, clickHouse }) => clickHouse.rate / duckDb))
  process.stdout.write(
    `Hits per processor-second: DuckDB ${format(rounds.map(({ duckDb }) => duckDb))}, ` +
      `ClickHouse ${format(rounds.map(({ clickHouse }) => clickHouse.rate))}. ` +
      `Ratio ${ratio.toFixed(2)} (at least ${LEAST_RATIO}): ${formatVerdict(ratio >= LEAST_RATIO)}\n` +
      `Bytes per hit in ClickHouse: ${median(rounds.map(({ clickHouse }) => clickHouse.bytesPerHit)).toFixed(1)}\n`,
  )
} finally {
  await server.end()
  rmSync(dir, { recursive: true, force: true })
}
process.exit(0)
