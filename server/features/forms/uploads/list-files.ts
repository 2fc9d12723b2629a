// Lists the files of submissions: the resources of many submissions with few queries.

import { sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareQuery } from '../../../storage/database/prepare-query.ts'
import type { FileResource } from './schema.ts'

/** A submission has at most 20 files, and SQLite runs on the event loop: 500 rows take about a millisecond. */
const SUBMISSIONS_AT_ONCE = 25

export const FILE_COLUMNS = ['id', 'field', 'name', 'type', 'bytes', 'sha256'] as const

const selectFiles = prepareQuery(
  (connection, { workspaceId, ids }: { workspaceId: number; ids: number[] } & Record<string, unknown>) =>
    connection
      .selectFrom('submission_files')
      .select(FILE_COLUMNS)
      .select('submission_id')
      .where(isOneOf(connection, 'submission_id', ids))
      // The plus keeps SQLite off the index by workspace, which has the files of all submissions.
      .where(sql`+workspace_id`, '=', workspaceId)
      .orderBy('submission_id')
      .orderBy('id'),
)

/** @returns the files of each submission with files, in the order of sending */
export async function listFilesOfSubmissions(
  connection: Connection,
  workspaceId: number,
  submissionIds: number[],
): Promise<Map<number, FileResource[]>> {
  const files = new Map<number, FileResource[]>()
  for (let from = 0; from < submissionIds.length; from += SUBMISSIONS_AT_ONCE) {
    if (from > 0) await takeTurn()
    const ids = submissionIds.slice(from, from + SUBMISSIONS_AT_ONCE)
    const rows = await selectFiles(connection, { workspaceId, ids })
    for (const { submission_id, ...file } of rows) {
      const own = files.get(submission_id)
      if (own) own.push(file)
      else files.set(submission_id, [file])
    }
  }
  return files
}
