// Deletes the bytes of files with deleted rows. A trigger has put their keys into `erased_files` in the same
// transaction, so none is missed. The key is deleted after the bytes, so a crash in between only repeats a deletion.

import type { Metric } from '../../../http/health-and-metrics.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'

interface EraserNeeds {
  db: Database
  store: Pick<FileStore, 'delete'>
}

const AT_ONCE = 20

export interface FileEraser {
  run(): Promise<void>
  metrics(): Metric[]
}

export function createFileEraser(needs: EraserNeeds): FileEraser {
  let erased = 0
  let waiting = 0
  return {
    /** Ends at the first files that the store cannot delete: the next run tries again. */
    async run() {
      for (let failed = false; !failed; ) {
        const step = await eraseStep(needs)
        erased += step.deleted
        failed = step.failure !== undefined
        waiting = failed ? await countErasedFiles(needs.db) : 0
        if (failed) log.warn('uploads_not_erased', { waiting, ...describeError(step.failure) })
        else if (step.deleted === 0) return
      }
    },
    metrics: () => [
      {
        name: 'towpath_uploads_erased_total',
        kind: 'counter',
        help: 'Files that were deleted with their submission',
        value: erased,
      },
      {
        name: 'towpath_uploads_erasure_waiting',
        kind: 'gauge',
        help: 'Files of deleted submissions that the directory or bucket still has, because it refuses to delete them',
        value: waiting,
      },
    ],
  }
}

async function eraseStep({ db, store }: EraserNeeds): Promise<{ deleted: number; failure?: unknown }> {
  const rows = await db.read.selectFrom('erased_files').select('key').limit(AT_ONCE).execute()
  const ends = await Promise.allSettled(rows.map(({ key }) => store.delete(key)))
  const deleted = rows.flatMap(({ key }, i) => (ends[i]?.status === 'fulfilled' ? [key] : []))
  if (deleted.length > 0)
    await db.write((connection) =>
      connection.deleteFrom('erased_files').where('key', 'in', deleted).execute(),
    )
  const failed = ends.find((end) => end.status === 'rejected')
  return { deleted: deleted.length, ...(failed && { failure: failed.reason }) }
}

async function countErasedFiles({ read }: Database): Promise<number> {
  const { n } = await read
    .selectFrom('erased_files')
    .select((e) => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}
