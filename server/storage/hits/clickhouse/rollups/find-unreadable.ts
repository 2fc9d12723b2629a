// Finds data of roll-ups that ClickHouse cannot read.

import { CLICKHOUSE_CODES, ClickHouseError } from '../clickhouse-error.ts'
import { toFirstDay } from '../month-partition.ts'
import { SUM_TABLES } from './roll-tables.ts'
import type { RollClient } from './store-sums.ts'

/**
 * ClickHouse's errors that say that data are damaged, by their names there. All others say nothing about data: a quota, a
 * limit, too many open files, a statement that was canceled.
 */
const DAMAGE_CODES: ReadonlySet<number | undefined> = new Set<number>([
  32, // ATTEMPT_TO_READ_AFTER_EOF
  33, // CANNOT_READ_ALL_DATA
  39, // TOO_LARGE_SIZE_COMPRESSED
  40, // CHECKSUM_DOESNT_MATCH
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR: the disk reports an error
  89, // UNKNOWN_COMPRESSION_METHOD
  91, // SIZES_OF_MARKS_FILES_ARE_INCONSISTENT
  107, // FILE_DOESNT_EXIST
  117, // INCORRECT_DATA
  226, // NO_FILE_IN_DATA_PART
  228, // BAD_SIZE_OF_FILE_IN_DATA_PART
  246, // CORRUPTED_DATA
  247, // INCORRECT_MARK
  271, // CANNOT_DECOMPRESS
  432, // UNKNOWN_CODEC
])

/** Whether ClickHouse has tried to read data, and they are damaged. */
const isDamage = (error: unknown) => error instanceof ClickHouseError && DAMAGE_CODES.has(error.code)

/** Whether data of roll-ups are damaged, or a table is missing. */
export const isUnreadable = (error: unknown): error is ClickHouseError =>
  isDamage(error) || (error instanceof ClickHouseError && error.code === CLICKHOUSE_CODES.unknownTable)

const READ_SETTINGS = { max_threads: 2, max_execution_time: 300 }
const READ_TIMEOUT_MS = 310_000

/** @param condition of the rows to be read */
export async function isReadable(client: RollClient, table: string, condition = 'true'): Promise<boolean> {
  try {
    await client.select(`SELECT sum(cityHash64(*)) FROM ${table} WHERE ${condition}`, {
      settings: READ_SETTINGS,
      timeoutMs: READ_TIMEOUT_MS,
    })
    return true
  } catch (error) {
    if (isDamage(error)) return false
    throw error
  }
}

/** A part of a table of sums: what one insert has stored, or several that ClickHouse has merged. */
export interface TablePart {
  table: string
  /** The first day of its month. */
  month: number
  part: string
}

/** ClickHouse knows the names of months and parts without reading data. */
export async function listUnreadableParts(client: RollClient): Promise<TablePart[]> {
  const unreadable: TablePart[] = []
  for (const table of SUM_TABLES) {
    const months = await client.select(`SELECT _partition_id, count() FROM ${table} GROUP BY _partition_id`)
    for (const [id] of months) {
      const inMonth = `_partition_id = '${Number(id)}'`
      if (await isReadable(client, table, inMonth)) continue
      const parts = await client.select(`SELECT _part, count() FROM ${table} WHERE ${inMonth} GROUP BY _part`)
      for (const [name] of parts) {
        const part = String(name)
        if (!(await isReadable(client, table, `${inMonth} AND _part = '${part}'`)))
          unreadable.push({ table, month: toFirstDay(Number(id)), part })
      }
    }
  }
  return unreadable
}
