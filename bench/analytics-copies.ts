// Makes a file of several times as many hits as another file: bun bench/analytics-copies.ts <source file> <new file> <copies>.
// Each copy has the hits of other days than the copies before it, so that every day gets links, values and visitors of its
// own draw, as the generator would give it. The hits lie in sorted runs, as the product's sorter leaves them.

import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { DAY_MS } from '../server/lib/utc-day.ts'
import { openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import { HIT_COLUMN_LIST, SORTED_COLUMN_LIST } from '../server/storage/hits/duckdb/layout.ts'
import { RUN_HITS } from '../server/storage/hits/duckdb/sorter.ts'
import { quoteLiteral } from '../server/storage/hits/duckdb/values.ts'
import { END, GENERATED_DAYS } from './hits-generator.ts'

const MINUTE = 60_000
const START = END - GENERATED_DAYS * DAY_MS
/** More than any id of the source. */
const IDS_PER_COPY = 2n ** 44n

export interface CopyReport {
  hits: number
  seconds: number
}

const [source = '', target = '', copies = '5'] = process.argv.slice(2)
const shifts = Array.from({ length: Number(copies) }, (_, n) =>
  Math.floor((n * GENERATED_DAYS) / Number(copies)),
)
const before = performance.now()
// The product makes the tables.
await (await openDuckDb({ path: target })).close()
const instance = await DuckDBInstance.create(target, {
  threads: '2',
  memory_limit: '4GB',
  temp_directory: `${target}.tmp`,
})
const connection = await instance.connect()
await connection.run(`ATTACH ${quoteLiteral(source)} AS source (READ_ONLY)`)

const readRows = async (text: string) => (await connection.runAndReadAll(text)).getRowsJS()

/** The hits of a copy that have these new times. A part of the copy is moved by whole days, and the rest goes around. */
function toCopySql(number: number, from: number, to: number): string[] {
  const shift = (shifts[number] as number) * DAY_MS
  const parts = [
    { moved: shift, from: Math.max(from, START + shift), to },
    { moved: shift - GENERATED_DAYS * DAY_MS, from, to: Math.min(to, START + shift) },
  ]
  return parts
    .filter((part) => part.from < part.to)
    .map(
      (
        part,
      ) => `SELECT * REPLACE (id + ${BigInt(number) * IDS_PER_COPY} AS id, recorded_at + ${part.moved} AS recorded_at)
        FROM source.hits WHERE recorded_at >= ${part.from - part.moved} AND recorded_at < ${part.to - part.moved}`,
    )
}

/** The times at which runs end, so that none has more hits than a run of the product's sorter. */
async function listRuns(): Promise<[from: number, to: number][]> {
  const minutes = new Float64Array(GENERATED_DAYS * 24 * 60)
  const counts = await readRows(
    `SELECT ((recorded_at - ${START}) // ${MINUTE})::INTEGER, count(*)::INTEGER FROM source.hits GROUP BY 1`,
  )
  for (const [minute, hits] of counts)
    for (const shift of shifts) {
      const moved = (Number(minute) + shift * 24 * 60) % minutes.length
      minutes[moved] = (minutes[moved] as number) + Number(hits)
    }
  const runs: [number, number][] = []
  let [from, hits] = [START, 0]
  for (const [minute, count] of minutes.entries()) {
    const at = START + minute * MINUTE
    if (hits + count > RUN_HITS) {
      runs.push([from, at])
      from = at
      hits = 0
    }
    hits += count
  }
  return [...runs, [from, END]]
}

// The visitor belongs to the day of the new time, as the product stores it. Visitors of two copies on one day are of
// two days in the source, so their hashes differ.
const VISITOR = `CASE WHEN visitor = 0 THEN 0 ELSE
  (visitor & 281474976710655) + ((recorded_at // ${DAY_MS}) & 65535)::UBIGINT * 281474976710656 END`

async function sortRun(writer: DuckDBConnection, from: number, to: number): Promise<number> {
  const parts = shifts.flatMap((_, number) => toCopySql(number, from, to))
  const { rowsChanged } = await writer.run(
    `INSERT INTO hits_sorted (${HIT_COLUMN_LIST})
     SELECT ${SORTED_COLUMN_LIST} FROM (SELECT * REPLACE (${VISITOR} AS visitor) FROM (${parts.join(' UNION ALL ')}))
     ORDER BY workspace_id, recorded_at // ${DAY_MS}, visitor, recorded_at`,
  )
  return rowsChanged
}

const runs = await listRuns()
let hits = 0
// A run is sorted by about one thread, so two run at a time.
await Promise.all(
  Array.from({ length: 2 }, async () => {
    const writer = await instance.connect()
    for (let run = runs.shift(); run; run = runs.shift()) {
      const sorted = await sortRun(writer, ...run)
      hits += sorted
    }
    writer.closeSync()
  }),
)
await connection.run('CHECKPOINT')
connection.closeSync()
instance.closeSync()
const report: CopyReport = { hits, seconds: (performance.now() - before) / 1000 }
process.stdout.write(JSON.stringify(report))
