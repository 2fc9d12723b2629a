// The files of a workspace's submissions, for the end of its export. Each has its own entry, and the record of its
// submission has the entry's name and SHA-256.

import type { FileOfZip } from '../../../lib/formats/zip-files.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'
import type { WorkspaceScan } from './stream-workspace.ts'

const FILES_AT_ONCE = 100

export interface FileScan extends WorkspaceScan {
  fileStore: Pick<FileStore, 'read'>
}

/** The folder of the files, before their keys. */
export const FILE_FOLDER = 'files/'

/** Files of submissions up to this id. A file whose bytes are missing has no entry. */
export async function* streamFiles(scan: FileScan, upTo: number): AsyncGenerator<FileOfZip> {
  const { db, actor, signal, fileStore } = scan
  for (let last: number | undefined = 0; last !== undefined; ) {
    const rows: { id: number; key: string }[] = await db.read
      .selectFrom('submission_files')
      .select(['id', 'key'])
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '>', last)
      .where('submission_id', '<=', upTo)
      .orderBy('id')
      .limit(FILES_AT_ONCE)
      .execute()
    for (const { key } of rows) {
      signal.throwIfAborted()
      const bytes = await fileStore.read(key)
      if (bytes) yield { name: FILE_FOLDER + key, read: () => bytes, isCompressed: true }
    }
    last = rows.length < FILES_AT_ONCE ? undefined : rows.at(-1)?.id
  }
}
