// Makes the tables of roll-ups whole again after one of them could not be read. Marks lose their validity before sums are
// removed: a question must never read a mark whose rows are gone.

import { log } from '../../../../lib/log.ts'
import { toNextMonth } from '../../rollups/rollup.ts'
import { ClickHouseError } from '../clickhouse-error.ts'
import { restoreRollUpTables } from '../layout.ts'
import { createChangeSource, recordDayChanges } from './day-changes.ts'
import { isReadable, listUnreadableParts, type TablePart } from './find-unreadable.ts'
import { emptyTable } from './reset.ts'
import { addStep, QUESTION_GRACE_MS } from './roll-steps.ts'
import { BOOKKEEPING_TABLES } from './roll-tables.ts'
import type { RollClient } from './store-sums.ts'

/**
 * Makes missing tables, and removes what cannot be read.
 * @returns whether nothing is left to be removed later
 */
export async function repairRollUps(client: RollClient, graceMs = QUESTION_GRACE_MS): Promise<boolean> {
  await restoreRollUpTables(client)
  await repairBookkeeping(client)
  const parts = await listUnreadableParts(client)
  await noteParts(client, parts)
  return dropParts(client, parts, graceMs)
}

/**
 * Empties the tables of changes, intents, loaders, steps and marks that cannot be read. A mark counts only while its
 * rows in each of these tables exist, so nothing else has to be done.
 * @returns whether there was one
 */
export async function repairBookkeeping(client: RollClient): Promise<boolean> {
  let isRepaired = false
  for (const table of BOOKKEEPING_TABLES) {
    if (await isReadable(client, table)) continue
    log.warn('hits.roll_ups_dropped', { table })
    await emptyTable(client, table)
    isRepaired = true
  }
  return isRepaired
}

/**
 * Records changes of all days of the months of damaged parts. A roll-up that has rows in such a part began before, so
 * it counts no more, or never will. The rows of later ones are in other parts.
 */
async function noteParts(client: RollClient, parts: readonly TablePart[]): Promise<void> {
  const known = await readNotes(client)
  const found = parts.filter((each) => !known.has(toNumber(each)))
  if (found.length === 0) return
  const days = new Set<number>()
  for (const { month } of found) for (let day = month; day < toNextMonth(month); day++) days.add(day)
  for (const { table, part } of found) log.warn('hits.roll_ups_dropped', { table, part })
  await recordDayChanges(client, createChangeSource('repair'), [...days])
  await addStep(client, 'unreadable', found.map(toNumber))
}

async function dropParts(client: RollClient, parts: readonly TablePart[], graceMs: number): Promise<boolean> {
  const notes = await readNotes(client)
  const waiting = new Set<number>()
  for (const each of parts) {
    const number = toNumber(each)
    if ((notes.get(number) ?? 0) < graceMs) waiting.add(number)
    else await dropPart(client, each)
  }
  // These have nothing unreadable left.
  await addStep(
    client,
    'dropped',
    [...notes.keys()].filter((number) => !waiting.has(number)),
  )
  return waiting.size === 0
}

/** ClickHouse's code for a part that was merged or dropped meanwhile. */
const NO_SUCH_DATA_PART = 232

async function dropPart(client: RollClient, { table, part }: TablePart): Promise<void> {
  try {
    await client.execute(
      `ALTER TABLE ${table} DROP PART '${part}' SETTINGS max_partition_size_to_drop = 0, alter_sync = 2`,
    )
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.code === NO_SUCH_DATA_PART)) throw error
  }
}

/** The damaged parts that are known and still there, by their numbers: for how many milliseconds. */
export async function readNotes(client: Pick<RollClient, 'select'>): Promise<Map<number, number>> {
  const rows = await client.select(
    `SELECT roll, dateDiff('millisecond', maxIf(made_at, step = 'unreadable') AS noted_at, now64(3)) FROM roll_steps
     WHERE roll IN (SELECT roll FROM roll_steps WHERE step = 'unreadable')
     GROUP BY roll HAVING noted_at > maxIf(made_at, step = 'dropped')`,
  )
  return new Map(rows.map(([number, age]) => [Number(number), Number(age)]))
}

/**
 * The number of a part among those of roll-ups. A deletion in other parts gives each part another name: its version at the
 * end, such as `_7` in `202605_1_4_1_7`.
 */
const toNumber = ({ table, part }: TablePart): number =>
  new Bun.CryptoHasher('sha256')
    .update(`${table}/${part.split('_').slice(0, 4).join('_')}`)
    .digest()
    .readUIntBE(0, 6)
