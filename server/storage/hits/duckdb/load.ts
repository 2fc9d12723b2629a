// Loads batches into DuckDB. The number of a batch, its mark, is stored in the same transaction as its hits, so a batch
// counts once, however often it is loaded.

import { resolve } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { toDuckDbVisitor } from '../day-visitor.ts'
import type { Hit } from '../hit.ts'
import type { Batch } from '../hit-engine.ts'
import { HIT_COLUMN_LIST, HIT_TYPES } from './layout.ts'
import type { ReadWriteLock } from './read-write-lock.ts'
import { unmarkNewHits } from './rollups/marks.ts'
import { runTransaction } from './transaction.ts'

const jsonColumns = Object.entries(HIT_TYPES).map(([field, type]) => `"${field}": '${type.split(' ')[0]}'`)
const jsonFields = (Object.keys(HIT_TYPES) as (keyof Hit)[]).map((field) =>
  field === 'visitor' ? toDuckDbVisitor('"visitor"', '"at"') : `"${field}"`,
)
const INSERT = `INSERT INTO hits_arrived (${HIT_COLUMN_LIST})
  SELECT $1, ${jsonFields.join(', ')}
  FROM read_json($2, format = 'newline_delimited', maximum_object_size = 1048576, columns = {${jsonColumns.join(', ')}})
  WHERE NOT coalesce("at" < $3::BIGINT, false)`

/** The result of a load. */
export interface LoadedHits {
  hits: number
  /** The UTC days of the hits, as whole days since 1970. Their marks of roll-ups are deleted. */
  days: number[]
}

/**
 * @param since hits recorded before this moment are left out
 * @returns no hits for a batch that was loaded before
 */
export function loadBatch(
  writer: DuckDBConnection,
  batch: Batch,
  since: number,
  lock: Pick<ReadWriteLock, 'exclusive'>,
): Promise<LoadedHits> {
  const { node, number, path } = batch
  let isLate = false
  const load = async () => {
    const mark = await readMark(writer, node)
    if (number <= mark) return { hits: 0, days: [] }
    if (number !== mark + 1) throw new Error(`Batch ${number} of ${node} does not follow batch ${mark}`)
    const { rowsChanged } = await writer.run(INSERT, [node, resolve(path), BigInt(since)])
    const listDays = () => listDaysOfFile(writer, resolve(path))
    const { days, unmarked } = await unmarkNewHits(writer, rowsChanged, listDays)
    isLate = unmarked > 0
    await writeMark(writer, node, number)
    return { hits: rowsChanged, days }
  }
  // Late hits delete the marks of their days: no question may count such hits twice, or miss them.
  return runTransaction(writer, load, (commit) => (isLate ? lock.exclusive(commit) : commit()))
}

async function listDaysOfFile(writer: DuckDBConnection, path: string): Promise<number[]> {
  const text = `SELECT DISTINCT "at" // ${DAY_MS} FROM read_json($1, format = 'newline_delimited',
    maximum_object_size = 1048576, columns = {"at": 'BIGINT'})`
  return (await writer.runAndReadAll(text, [path])).getRows().map(([day]) => Number(day))
}

/** Raises the mark of a node to `through`. Never lowers it. */
export const skipBatches = (writer: DuckDBConnection, node: string, through: number): Promise<void> =>
  runTransaction(writer, async () => {
    if ((await readMark(writer, node)) < through) await writeMark(writer, node, through)
  })

/** The number of the last loaded batch of a node; 0 if there is none. */
export async function readMark(writer: DuckDBConnection, node: string): Promise<number> {
  const result = await writer.runAndReadAll('SELECT max(batch) FROM marks WHERE node = $1', [node])
  return Number(result.getRows()[0]?.[0] ?? 0)
}

async function writeMark(writer: DuckDBConnection, node: string, number: number) {
  await writer.run('DELETE FROM marks WHERE node = $1', [node])
  await writer.run('INSERT INTO marks VALUES ($1, $2)', [node, BigInt(number)])
}
