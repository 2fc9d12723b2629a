// Deletes the bytes of files whose rows are gone. A trigger has put their keys into `erased_files`: in the transaction
// that deleted their rows, so nothing is missed. The key goes after the bytes, so a crash only repeats a deletion.

import { describeError, log } from '../../../lib/log.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'

interface EraserNeeds {
  db: Database
  store: Pick<FileStore, 'delete'>
}

const AT_ONCE = 20

/** Ends at the first file that the store cannot delete: the next run tries again. */
export async function eraseFiles({ db, store }: EraserNeeds): Promise<void> {
  for (;;) {
    const rows = await db.read.selectFrom('erased_files').select('key').limit(AT_ONCE).execute()
    if (rows.length === 0) return
    const ends = await Promise.allSettled(rows.map(({ key }) => store.delete(key)))
    const deleted = rows.flatMap(({ key }, i) => (ends[i]?.status === 'fulfilled' ? [key] : []))
    if (deleted.length > 0)
      await db.write((connection) =>
        connection.deleteFrom('erased_files').where('key', 'in', deleted).execute(),
      )
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed) {
      log.warn('upload_not_erased', {
        waiting: rows.length - deleted.length,
        ...describeError(failed.reason),
      })
      return
    }
  }
}

/** How many files wait for their deletion, and their bytes. */
export async function countErasedFiles(db: Database): Promise<{ files: number; bytes: number }> {
  const { files, bytes } = await db.read
    .selectFrom('erased_files')
    .select(({ fn }) => [fn.countAll<number>().as('files'), fn.sum<number | null>('bytes').as('bytes')])
    .executeTakeFirstOrThrow()
  return { files: Number(files), bytes: Number(bytes ?? 0) }
}
