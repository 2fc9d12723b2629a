// Replaces unknown names of browsers, systems and devices in submissions of earlier releases by `Other`.

import { closeNames } from '../../../storage/clients/closed-names.ts'
import { changeOldRows } from '../../../storage/database/change-old-rows.ts'
import type { Database } from '../../../storage/database/open-database.ts'

const SLICE_ROWS = 100

export const closeClientNames = (db: Database, sliceRows = SLICE_ROWS): Promise<void> =>
  changeOldRows(db, {
    name: 'submissions',
    select(connection, through) {
      return connection
        .selectFrom('submissions')
        .select(['id', 'browser', 'os', 'device'])
        .where('id', '<=', through)
        .orderBy('id', 'desc')
        .limit(sliceRows)
        .execute()
    },
    async change(connection, { id, ...names }) {
      const closed = closeNames(names)
      if (JSON.stringify(closed) !== JSON.stringify(names))
        await connection.updateTable('submissions').set(closed).where('id', '=', id).execute()
    },
  })
