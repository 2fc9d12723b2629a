// Closes the names of browsers, systems and devices of submissions that an earlier release has stored: what is in no list
// becomes `Other`. It works in slices, from the newest submission on, and goes on where it stopped.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { closeNames } from '../../../storage/clients/closed-names.ts'
import type { Database } from '../../../storage/database/open-database.ts'

/** A submission has some kilobytes at most: a slice takes a few milliseconds of the event loop. */
const SLICE_ROWS = 100

export async function closeClientNames(db: Database, sliceRows = SLICE_ROWS): Promise<void> {
  do await takeTurn()
  while (await closeSlice(db, sliceRows))
}

/** @returns whether more submissions may wait */
async function closeSlice(db: Database, sliceRows: number): Promise<boolean> {
  const open = await db.read
    .selectFrom('open_names')
    .select('through')
    .where('table_name', '=', 'submissions')
    .executeTakeFirst()
  if (!open) return false
  return db.write(async (connection) => {
    const rows = await connection
      .selectFrom('submissions')
      .select(['id', 'browser', 'os', 'device'])
      .where('id', '<=', open.through)
      .orderBy('id', 'desc')
      .limit(sliceRows)
      .execute()
    for (const { id, ...names } of rows) {
      const closed = closeNames(names)
      if (JSON.stringify(closed) !== JSON.stringify(names))
        await connection.updateTable('submissions').set(closed).where('id', '=', id).execute()
    }
    const last = rows.at(-1)
    if (last)
      await connection
        .updateTable('open_names')
        .set({ through: last.id - 1 })
        .where('table_name', '=', 'submissions')
        .execute()
    else await connection.deleteFrom('open_names').where('table_name', '=', 'submissions').execute()
    return last !== undefined
  })
}
