// Repairs the roll-up tables that writes of hits need: hits are loaded and deleted even when all roll-ups are lost.

import { CLICKHOUSE_CODES, type ClickHouseError } from '../clickhouse-error.ts'
import type { ClickHouseClient } from '../client.ts'
import { restoreRollUpTables } from '../layout.ts'
import { isUnreadable } from './find-unreadable.ts'
import { repairBookkeeping } from './repair.ts'

/** Runs work, and once more after the tables of roll-ups were repaired that it could not read. */
type Healer = <T>(work: () => Promise<T>) => Promise<T>

/** @param onTrouble called when something cannot be read: sums, which the roller repairs, or what is repaired here */
export const createHealer =
  (client: ClickHouseClient, onTrouble: () => void): Healer =>
  async (work) => {
    try {
      return await work()
    } catch (error) {
      if (!isUnreadable(error)) throw error
      onTrouble()
      if (!(await repair(client, error))) throw error
      return work()
    }
  }

/** @returns whether anything was repaired: the error may be one of the hits */
async function repair(client: ClickHouseClient, error: ClickHouseError): Promise<boolean> {
  if (error.code !== CLICKHOUSE_CODES.unknownTable) return repairBookkeeping(client)
  if (!error.message.includes('roll_')) return false
  await restoreRollUpTables(client)
  return true
}
