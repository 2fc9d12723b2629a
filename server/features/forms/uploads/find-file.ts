// Finds a file of a workspace, and opens its bytes.

import { Failure, notFound } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'
import { FILE_COLUMNS } from './list-files.ts'
import type { FileResource } from './schema.ts'

export interface StoredFileRow extends FileResource {
  key: string
  created_at: number
}

const COLUMNS = [...FILE_COLUMNS, 'key', 'created_at'] as const
const RETRY_AFTER_SECONDS = 30

/** @throws Failure `not_found` */
export async function getFile(
  connection: Connection,
  workspaceId: number,
  id: number,
): Promise<StoredFileRow> {
  const row = await connection
    .selectFrom('submission_files')
    .select(COLUMNS)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw notFound('File')
  return row
}

/** For a link, which names no workspace. */
export function findFileByKey(connection: Connection, key: string) {
  return connection
    .selectFrom('submission_files')
    .innerJoin('workspaces', 'workspaces.id', 'submission_files.workspace_id')
    .selectAll('submission_files')
    .select('workspaces.suspended_at')
    .where('submission_files.key', '=', key)
    .executeTakeFirst()
}

/** In the order of sending. The caller has checked that the submission exists. */
export const listStoredFiles = (
  connection: Connection,
  workspaceId: number,
  submissionId: number,
): Promise<StoredFileRow[]> =>
  connection
    .selectFrom('submission_files')
    .select(COLUMNS)
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', '=', submissionId)
    .orderBy('id')
    .execute()

/** @throws Failure `not_found` where the store has lost the bytes, `unavailable` where it is out of reach */
export async function openFile(
  store: Pick<FileStore, 'read'>,
  { id, key }: Pick<StoredFileRow, 'id' | 'key'>,
  range?: { start: number; end: number },
): Promise<ReadableStream<Uint8Array>> {
  const bytes = await store.read(key, range).catch((cause) => {
    throw new Failure('unavailable', 'The file cannot be read right now: the file store is out of reach', {
      retryAfter: RETRY_AFTER_SECONDS,
      cause,
    })
  })
  if (bytes) return bytes
  log.error('upload_lost', { file: id, ...describeError(new Error(`The file store has no ${key}`)) })
  throw notFound('File')
}
