// Reads all hits of a DuckDB file for a move to another engine. The file is opened for reading only.

import type { DuckDBConnection } from '@duckdb/node-api'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { toDuckDbVisitor } from '../day-visitor.ts'
import type { Hit } from '../hit.ts'
import { HIT_COLUMNS } from '../hit-columns.ts'
import {
  HASHED_COLUMNS,
  type HitDay,
  type HitDayFigures,
  type HitSlice,
  IS_CLICK,
  toDayFigures,
} from '../hit-day.ts'
import { HIT_TYPES, isNewestLayout } from './layout.ts'
import { openReadOnly } from './open-read-only.ts'
import { quoteLiteral } from './values.ts'

/** The approximate number of hits in a slice. A slice is a file of 80 MB, and one block for the other engine. */
const SLICE_HITS = 200_000
/** Slices begin at whole minutes, so that planning them is one short question. */
const MINUTE_MS = 60_000

export interface HitMoveSource {
  /** The last batch of each node in the file. */
  listMarks(): Promise<{ node: string; batch: number }[]>
  /** The days that have hits, oldest first. */
  listDays(): Promise<HitDay[]>
  readFigures(day: number): Promise<HitDayFigures[]>
  planSlices(day: number): Promise<HitSlice[]>
  /** Writes the slice as lines of JSON, like those of a batch. */
  writeSlice(slice: HitSlice, path: string): Promise<void>
  close(): void
}

/** @param scratchDir for data that does not fit into DuckDB's memory @throws when another process writes the file */
export async function openHitMoveSource(path: string, scratchDir: string): Promise<HitMoveSource> {
  const instance = await openReadOnly(path, scratchDir)
  const connection = await instance.connect()
  const close = () => {
    connection.closeSync()
    instance.closeSync()
  }
  if (!(await isNewestLayout(connection))) {
    close()
    throw new Error(
      `${path} is of another version of Towpath. Start this version's server once, and stop it.`,
    )
  }
  const ask = async (sql: string) => (await connection.runAndReadAll(sql)).getRows()
  return {
    async listMarks() {
      const rows = await ask('SELECT node, max(batch) FROM marks GROUP BY node ORDER BY node')
      return rows.map(([node, batch]) => ({ node: String(node), batch: Number(batch) }))
    },
    async listDays() {
      const rows = await ask(
        `SELECT recorded_at // ${DAY_MS} AS day, count(*) FROM hits GROUP BY day ORDER BY day`,
      )
      return rows.map(([day, hits]) => ({ day: Number(day), hits: Number(hits) }))
    },
    readFigures: (day) => readFigures(connection, day),
    planSlices: (day) => planSlices(connection, day),
    async writeSlice({ node, start, end }, to) {
      await connection.run(
        `COPY (SELECT ${JSON_COLUMNS} FROM hits WHERE node = ${quoteLiteral(node)}
           AND recorded_at >= ${start} AND recorded_at < ${end}) TO ${quoteLiteral(to)} (FORMAT json)`,
      )
    },
    close,
  }
}

/** The visitor is a text in a batch, because JSON's numbers have 53 bits. */
const JSON_COLUMNS = (Object.keys(HIT_TYPES) as (keyof Hit)[])
  .map((field) => `${HIT_COLUMNS[field]}${field === 'visitor' ? '::VARCHAR' : ''} AS "${field}"`)
  .join(', ')

/** The visitor as the other engine stores it. Hits that an earlier release has loaded have a visitor without its day. */
const VISITOR = toDuckDbVisitor('visitor', 'recorded_at')
const toHashed = (name: string) => (name === HIT_COLUMNS.visitor ? `(${VISITOR})` : name)
const HASHED_TEXT = `concat_ws(chr(0), ${HASHED_COLUMNS.map((name) => `coalesce(${toHashed(name)}::VARCHAR, '')`).join(', ')})`
const HASH = `bit_xor(('0x' || substr(md5(${HASHED_TEXT}), 1, 16))::UBIGINT)`
const toDayCondition = (day: number) =>
  `recorded_at >= ${day * DAY_MS} AND recorded_at < ${(day + 1) * DAY_MS}`

async function readFigures(connection: DuckDBConnection, day: number): Promise<HitDayFigures[]> {
  const result = await connection.runAndReadAll(
    `SELECT workspace_id, count(*), count(*) FILTER (${IS_CLICK}), count(DISTINCT ${VISITOR}) FILTER (${IS_CLICK}), ${HASH}
     FROM hits WHERE ${toDayCondition(day)} GROUP BY workspace_id ORDER BY workspace_id`,
  )
  return result.getRows().map(toDayFigures)
}

async function planSlices(connection: DuckDBConnection, day: number): Promise<HitSlice[]> {
  const result = await connection.runAndReadAll(
    `SELECT node, recorded_at // ${MINUTE_MS} AS minute, count(*) FROM hits WHERE ${toDayCondition(day)}
     GROUP BY node, minute ORDER BY node, minute`,
  )
  const slices: HitSlice[] = []
  for (const [name, minute, count] of result.getRows()) {
    const node = String(name)
    const end = (Number(minute) + 1) * MINUTE_MS
    const hits = Number(count)
    const last = slices.at(-1)
    if (last?.node === node && last.hits + hits <= SLICE_HITS) {
      last.end = end
      last.hits += hits
    } else slices.push({ node, start: end - MINUTE_MS, end, hits })
  }
  return slices
}
