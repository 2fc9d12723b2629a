// Deletes files that no submission has: a crash between a file and its row leaves one, and a draft in the middle.

import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { log } from '../../../lib/log.ts'
import { DAY_MS, toUtcDay } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { isOwnFile } from '../../../storage/files/file-key.ts'
import type { FileStore, StoredFile } from '../../../storage/files/file-store.ts'

export interface SweepNeeds {
  db: Database
  store: FileStore
  /** See `toFileOwner`. */
  owner: string
  now: () => number
  /** Keys of files that this process is receiving. */
  unfinished: ReadonlySet<string>
  /** No other process writes into the store, so files that are not received here have no owner. */
  isAlone: boolean
}

/** A row comes seconds after its file. An hour is enough for the slowest database, and for clocks that differ. */
const AGE_MS = 60 * 60 * 1000
const BATCH = 200

export interface UploadSweeper {
  run(): Promise<void>
  /** The number of deleted files. */
  swept(): number
}

export function createUploadSweeper(needs: SweepNeeds): UploadSweeper {
  let sweptUntil: number | undefined
  let swept = 0
  return {
    async run() {
      const startedAt = needs.now()
      const isFirst = sweptUntil === undefined
      // Older days were swept by an earlier run. The first one has to look at everything.
      const fromDay = isFirst ? undefined : toUtcDay((sweptUntil as number) - DAY_MS)
      const before = isFirst && needs.isAlone ? Number.POSITIVE_INFINITY : startedAt - AGE_MS
      const deleted = await sweep(needs, fromDay, before)
      swept += deleted
      sweptUntil = startedAt
      if (deleted > 0) log.info('uploads_swept', { files: deleted })
    },
    swept: () => swept,
  }
}

async function sweep(needs: SweepNeeds, fromDay: string | undefined, before: number): Promise<number> {
  let deleted = 0
  let batch: StoredFile[] = []
  for await (const file of needs.store.list(fromDay)) {
    if (file.at >= before || !isOwnFile(file.key, needs.owner)) continue
    if (batch.push(file) === BATCH) {
      deleted += await deleteOrphans(needs, batch)
      batch = []
    }
  }
  return deleted + (await deleteOrphans(needs, batch))
}

const toKey = (listed: string) => listed.replace(/\.draft$/, '')

async function deleteOrphans({ db, store, unfinished }: SweepNeeds, files: StoredFile[]): Promise<number> {
  // Read before the rows: a file with an ended upload has its row by then, or never gets one.
  const candidates = files.map(({ key }) => key).filter((key) => !unfinished.has(toKey(key)))
  if (candidates.length === 0) return 0
  const known = await findKnownKeys(db, candidates)
  const pace = createPacer()
  const orphans = candidates.filter((key) => !known.has(key))
  for (const key of orphans) {
    await store.delete(key)
    const pause = pace()
    if (pause) await pause
  }
  return orphans.length
}

/** The query names no workspace: the store has the files of all. */
async function findKnownKeys(db: Database, keys: string[]): Promise<Set<string>> {
  const rows = await db.read.selectFrom('submission_files').select('key').where('key', 'in', keys).execute()
  return new Set(rows.map(({ key }) => key))
}
