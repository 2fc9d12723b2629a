// Deletes old rows of a table in slices. With SQLite each slice runs on the event loop, so it is short, and other
// writes run between two slices.

import { type RawBuilder, sql } from 'kysely'
import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Database, DatabaseEngine } from './open-database.ts'
import type { Tables } from './tables.ts'

/** A row has at most some kilobytes, so a hundred take a few milliseconds of processor time. */
const SLICE_ROWS = 100

/** Selects rows by their physical place, which every table has, whatever its key is. */
const isAmong: Record<DatabaseEngine, (places: RawBuilder<unknown>) => RawBuilder<unknown>> = {
  sqlite: (places) => sql`rowid in (${places})`,
  postgres: (places) => sql`ctid = any(array(${places}))`,
}
const PLACE: Record<DatabaseEngine, RawBuilder<unknown>> = { sqlite: sql`rowid`, postgres: sql`ctid` }
/** Another statement that locks several rows could wait for this one, and this one for it. */
const WITHOUT_WAITING: Record<DatabaseEngine, RawBuilder<unknown>> = {
  sqlite: sql``,
  postgres: sql`for update skip locked`,
}

/**
 * @param isOld needs an index, because each slice searches for its rows again
 * @returns how many rows are deleted
 */
export async function pruneInSlices(
  db: Database,
  table: keyof Tables,
  isOld: RawBuilder<unknown>,
): Promise<number> {
  const places = sql`select ${PLACE[db.engine]} from ${sql.table(table)} where ${isOld} limit ${SLICE_ROWS}
    ${WITHOUT_WAITING[db.engine]}`
  const slice = sql`delete from ${sql.table(table)} where ${isAmong[db.engine](places)}`
  for (let total = 0; ; ) {
    await takeTurn()
    const { numAffectedRows } = await db.write((connection) => slice.execute(connection))
    const deleted = Number(numAffectedRows ?? 0)
    total += deleted
    if (deleted < SLICE_ROWS) return total
  }
}
