// Stores the rows of a submission's files, in the submission's own transaction, within the room of its workspace.

import { type Insertable, sql } from 'kysely'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import type { SubmittedFile } from './submitted-file.ts'

interface FilesOwner {
  workspaceId: number
  submissionId: number
  at: number
}

export const toTotalBytes = (files: Pick<SubmittedFile, 'bytes'>[]) =>
  files.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * @param bytesMax of all files of the workspace
 * @returns false where the workspace has no room for them; the caller rolls back
 */
export async function recordFiles(
  connection: Connection,
  { workspaceId, submissionId, at }: FilesOwner,
  files: SubmittedFile[],
  bytesMax: number,
): Promise<boolean> {
  if (files.length === 0) return true
  const rows = files.map(
    ({ field, name, type, bytes, sha256, draft: { key } }): Insertable<Tables['submission_files']> => ({
      workspace_id: workspaceId,
      submission_id: submissionId,
      field,
      name,
      type,
      bytes,
      sha256,
      key,
      created_at: at,
    }),
  )
  await connection.insertInto('submission_files').values(rows).execute()
  const bytes = toTotalBytes(files)
  // The row of the workspace is locked until the commit: two submissions cannot both take the last room.
  const { total } = await connection
    .insertInto('upload_totals')
    .values({ workspace_id: workspaceId, files: files.length, bytes })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet({
        files: sql`upload_totals.files + excluded.files`,
        bytes: sql`upload_totals.bytes + excluded.bytes`,
      }),
    )
    .returning('bytes as total')
    .executeTakeFirstOrThrow()
  return Number(total) <= bytesMax
}
