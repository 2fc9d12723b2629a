// Loads batches into DuckDB. The number of a batch, its mark, is stored in the same transaction as its hits, so a batch
// counts once, however often it is loaded.

import { resolve } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { Batch } from '../hit-engine.ts'
import { HIT_COLUMN_LIST, HIT_TYPES } from './layout.ts'
import { runTransaction } from './transaction.ts'

const jsonColumns = Object.entries(HIT_TYPES).map(([field, type]) => `"${field}": '${type.split(' ')[0]}'`)
const jsonFields = Object.keys(HIT_TYPES).map((field) => `"${field}"`)
const INSERT = `INSERT INTO hits_arrived (${HIT_COLUMN_LIST})
  SELECT $1, ${jsonFields.join(', ')}
  FROM read_json($2, format = 'newline_delimited', maximum_object_size = 1048576, columns = {${jsonColumns.join(', ')}})
  WHERE NOT coalesce("at" < $3::BIGINT, false)`

/**
 * @param since hits recorded before this moment are left out
 * @returns the number of loaded hits; 0 for a batch that was loaded before
 */
export function loadBatch(writer: DuckDBConnection, batch: Batch, since: number): Promise<number> {
  const { node, number, path } = batch
  return runTransaction(writer, async () => {
    const mark = await readMark(writer, node)
    if (number <= mark) return 0
    if (number !== mark + 1) throw new Error(`Batch ${number} of ${node} does not follow batch ${mark}`)
    const { rowsChanged } = await writer.run(INSERT, [node, resolve(path), BigInt(since)])
    await writeMark(writer, node, number)
    return rowsChanged
  })
}

/** Raises the mark of a node to `through`. Never lowers it. */
export const skipBatches = (writer: DuckDBConnection, node: string, through: number): Promise<void> =>
  runTransaction(writer, async () => {
    if ((await readMark(writer, node)) < through) await writeMark(writer, node, through)
  })

/** The number of the last batch of a node that is loaded; 0 when there is none. */
export async function readMark(writer: DuckDBConnection, node: string): Promise<number> {
  const result = await writer.runAndReadAll('SELECT max(batch) FROM marks WHERE node = $1', [node])
  return Number(result.getRows()[0]?.[0] ?? 0)
}

async function writeMark(writer: DuckDBConnection, node: string, number: number) {
  await writer.run('DELETE FROM marks WHERE node = $1', [node])
  await writer.run('INSERT INTO marks VALUES ($1, $2)', [node, BigInt(number)])
}
