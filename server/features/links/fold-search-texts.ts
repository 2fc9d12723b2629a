// Drops the marks in the search texts of links that an earlier release has stored.

import { changeOldRows } from '../../storage/database/change-old-rows.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { toSearchText } from './search.ts'

/** A link has some kilobytes at most. */
const SLICE_ROWS = 100

export const foldSearchTexts = (db: Database, sliceRows = SLICE_ROWS): Promise<void> =>
  changeOldRows(db, {
    name: 'links',
    select(connection, through) {
      return connection
        .selectFrom('links')
        .select(['id', 'slug', 'destination_url', 'title', 'search_text'])
        .where('id', '<=', through)
        .orderBy('id', 'desc')
        .limit(sliceRows)
        .execute()
    },
    async change(connection, { id, search_text, ...link }) {
      const folded = toSearchText(link)
      if (folded !== search_text)
        await connection.updateTable('links').set({ search_text: folded }).where('id', '=', id).execute()
    },
  })
