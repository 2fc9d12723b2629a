// Changes rows of an earlier release in slices, the newest rows first. `open_names` has the progress, so that the work
// continues after a restart; a migration creates its row.

import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Connection, Database } from './open-database.ts'

interface OldRows<Row extends { id: number }> {
  /** The row of `open_names`. */
  name: string
  /** @returns the next rows, the highest ids first: a few milliseconds of work */
  select(connection: Connection, through: number): Promise<Row[]>
  change(connection: Connection, row: Row): Promise<unknown>
}

export async function changeOldRows<Row extends { id: number }>(
  db: Database,
  rows: OldRows<Row>,
): Promise<void> {
  do await takeTurn()
  while (await changeSlice(db, rows))
}

/** @returns true if there may be more rows */
async function changeSlice<Row extends { id: number }>(
  { read, write }: Database,
  { name, select, change }: OldRows<Row>,
): Promise<boolean> {
  const open = await read
    .selectFrom('open_names')
    .select('through')
    .where('table_name', '=', name)
    .executeTakeFirst()
  if (!open) return false
  return write(async (connection) => {
    const rows = await select(connection, Number(open.through))
    for (const row of rows) await change(connection, row)
    const last = rows.at(-1)
    if (last)
      await connection
        .updateTable('open_names')
        .set({ through: last.id - 1 })
        .where('table_name', '=', name)
        .execute()
    else await connection.deleteFrom('open_names').where('table_name', '=', name).execute()
    return last !== undefined
  })
}
