// Damages a table of a closed DuckDB file, as a bad disk would.

import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

const HEADERS = 3 * 4096
const BLOCK = 262_144

export interface TableBlocks {
  table: string
  /** The blocks of this column alone. */
  column?: string
  /** The blocks that the table shares with these stay as they are. */
  others: string[]
}

/** Overwrites the blocks of the table, but those that it shares. @throws when it has no other ones */
export async function damageBlocks(path: string, { table, column, others }: TableBlocks): Promise<void> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  const read = async (of: string, condition: string) => {
    const text = `SELECT DISTINCT block_id FROM pragma_storage_info('${of}') WHERE block_id >= 0 AND ${condition}`
    return (await connection.runAndReadAll(text)).getRows().map(([id]) => Number(id))
  }
  const inColumn = column ? `column_name = '${column}'` : 'true'
  const found = await read(table, `segment_type <> 'VALIDITY' AND ${inColumn}`)
  const shared = new Set(column ? await read(table, `NOT ${inColumn}`) : [])
  for (const other of others) for (const id of await read(other, 'true')) shared.add(id)
  connection.closeSync()
  instance.closeSync()
  const own = found.filter((id) => !shared.has(id))
  if (own.length === 0) throw new Error(`${table} has no blocks of its own`)
  const file = openSync(path, 'r+')
  for (const id of own) {
    if (HEADERS + (id + 1) * BLOCK > statSync(path).size) throw new Error(`${path} has no block ${id}`)
    writeSync(file, Buffer.alloc(2000, 0xa5), 0, 2000, HEADERS + id * BLOCK + 100)
  }
  closeSync(file)
}
