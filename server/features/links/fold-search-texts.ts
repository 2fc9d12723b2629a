// Drops the marks in the search texts of links that an earlier release has stored. It works in slices, from the newest
// link on, and goes on where it stopped.

import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { toSearchText } from './search.ts'

/** A link has some kilobytes at most: a slice takes a few milliseconds of the event loop. */
const SLICE_ROWS = 100

export async function foldSearchTexts(db: Database, sliceRows = SLICE_ROWS): Promise<void> {
  do await takeTurn()
  while (await foldSlice(db, sliceRows))
}

/** @returns whether more links may wait */
async function foldSlice(db: Database, sliceRows: number): Promise<boolean> {
  const open = await db.read
    .selectFrom('open_names')
    .select('through')
    .where('table_name', '=', 'links')
    .executeTakeFirst()
  if (!open) return false
  return db.write(async (connection) => {
    const rows = await connection
      .selectFrom('links')
      .select(['id', 'slug', 'destination_url', 'title', 'search_text'])
      .where('id', '<=', open.through)
      .orderBy('id', 'desc')
      .limit(sliceRows)
      .execute()
    for (const { id, search_text, ...link } of rows) {
      const folded = toSearchText(link)
      if (folded !== search_text)
        await connection.updateTable('links').set({ search_text: folded }).where('id', '=', id).execute()
    }
    const last = rows.at(-1)
    if (last)
      await connection
        .updateTable('open_names')
        .set({ through: last.id - 1 })
        .where('table_name', '=', 'links')
        .execute()
    else await connection.deleteFrom('open_names').where('table_name', '=', 'links').execute()
    return last !== undefined
  })
}
