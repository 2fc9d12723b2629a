// Drops the marks in the search texts of submissions that an earlier release has stored.

import { sql } from 'kysely'
import { cutIntoSteps } from '../../../lib/concurrency/take-turn.ts'
import { foldMarks } from '../../../lib/text.ts'
import { changeOldRows } from '../../../storage/database/change-old-rows.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'

const SLICE_ROWS = 100
/** A submission can have a megabyte, so a slice holds one of that size. */
const SLICE_BYTES = 256 * 1024

export const foldSubmissionTexts = (db: Database, sliceRows = SLICE_ROWS): Promise<void> =>
  changeOldRows(db, {
    name: 'submissions.search_text',
    select: (connection, through) => selectSlice(connection, through, sliceRows),
    async change(connection, { id, search_text }) {
      const folded = foldMarks(search_text)
      if (folded !== search_text)
        await connection
          .updateTable('submissions')
          .set({ search_text: folded })
          .where('id', '=', id)
          .execute()
    },
  })

async function selectSlice(connection: Connection, through: number, sliceRows: number) {
  const sizes = await connection
    .selectFrom('submissions')
    .select(['id', sql<number>`octet_length(search_text)`.as('bytes')])
    .where('id', '<=', through)
    .orderBy('id', 'desc')
    .limit(sliceRows)
    .execute()
  const [slice = []] = cutIntoSteps(sizes, SLICE_BYTES)
  if (slice.length === 0) return []
  return connection
    .selectFrom('submissions')
    .select(['id', 'search_text'])
    .where(
      'id',
      'in',
      slice.map(({ id }) => id),
    )
    .orderBy('id', 'desc')
    .execute()
}
