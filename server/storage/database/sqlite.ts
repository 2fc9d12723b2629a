// The database in one SQLite file, with one reader and one writer. The writer commits in groups: synced commits of one
// row reach 5,000 rows a second, of 50 rows 117,000.

import { Database } from 'bun:sqlite'
import { describeError, log } from '../../lib/log.ts'
import { createAnnouncer } from './commit-effects.ts'
import { createCommitStats } from './commit-stats.ts'
import { type Connection, createProbe, type DatabaseHandle } from './database.ts'
import { isLocked } from './errors.ts'
import { openGroupCommit } from './group-commit.ts'
import { createSqliteKysely } from './sqlite-kysely.ts'
import { openCheckpointer } from './sqlite-log/checkpointer.ts'
import { openLogSync } from './sqlite-log/log-sync.ts'

/** Older versions can lose committed data when a checkpoint races a write (https://sqlite.org/wal.html#walresetbug). */
export const MIN_SQLITE_VERSION = '3.51.3'

/** @param version such as `3.51.3` */
export function isVersionBelow(version: string, floor: string): boolean {
  const [parts, floors] = [version, floor].map((text) => text.split('.').map(Number)) as [number[], number[]]
  const differs = floors.findIndex((number, i) => (parts[i] ?? 0) !== number)
  return differs >= 0 && (parts[differs] ?? 0) < (floors[differs] ?? 0)
}

const OPEN_WITHIN_MS = 10_000
// Longer than any migration. A starting process waits while another one migrates.
const MIGRATION_WAIT_MS = 10 * 60_000

const PRAGMAS = [
  'synchronous=FULL',
  'foreign_keys=ON',
  'trusted_schema=OFF',
  'cell_size_check=ON',
  'wal_autocheckpoint=1000',
  'journal_size_limit=67108864',
  'temp_store=MEMORY',
  // Overwrites deleted rows, so that no free page of the file contains an erased email address.
  'secure_delete=ON',
]

const PRAGMAS_WITH_THREADS = [
  // COMMIT does not sync; log-sync.ts does, before the commit is answered. SQLite still syncs the log before it
  // moves pages into the file, and the header of each restarted log.
  'synchronous=NORMAL',
  // The writer makes a checkpoint itself only when the log has 256 MB.
  'wal_autocheckpoint=65536',
  // 8 MB in place of 2: the pages that submissions of a hundred busy forms write stay in memory.
  'cache_size=-8000',
]

/** Opens a connection for migrations, before anything else opens the file. */
export async function openSqliteMigrator(path: string): Promise<Connection> {
  return createSqliteKysely(await openSqliteWriter(path, MIGRATION_WAIT_MS))
}

interface SqliteOptions {
  storesChanges?: boolean
  /**
   * For a server: threads do the syncs and checkpoints, which would delay requests. Without threads COMMIT syncs, and SQLite
   * makes a checkpoint after each thousand pages.
   */
  usesThreads?: boolean
  emptyLogEveryMs?: number
}

/** @param path of the database file, created when absent. WAL needs shared memory, so no network file system works. */
export async function openSqlite(
  path: string,
  { storesChanges = true, usesThreads = false, emptyLogEveryMs }: SqliteOptions = {},
): Promise<DatabaseHandle> {
  // A busy_timeout would block the event loop. The group commit waits for the lock without blocking.
  const writer = await openSqliteWriter(path, 0)
  const reader = new Database(path, { readonly: true, strict: true })
  reader.run('PRAGMA busy_timeout=1000')
  reader.run('PRAGMA trusted_schema=OFF')
  const announcer = createAnnouncer()
  const { announce } = announcer
  const stats = createCommitStats()
  const logSync = usesThreads ? openLogSync(`${path}-wal`) : undefined
  const queue = openGroupCommit(writer, {
    announce,
    storesChanges,
    stats,
    logSync: logSync && {
      sync() {
        checkpointer?.noteCommit()
        return logSync.sync()
      },
      rewrite: logSync.rewrite,
    },
  })
  const checkpointer = usesThreads
    ? openCheckpointer({ path, pauseWrites: queue.pause, emptyEveryMs: emptyLogEveryMs })
    : undefined
  if (usesThreads) for (const pragma of PRAGMAS_WITH_THREADS) writer.run(`PRAGMA ${pragma}`)
  return {
    engine: 'sqlite',
    read: createSqliteKysely(reader),
    write: queue.write,
    watchChanges: announcer.watchChanges,
    readCommitStats: stats.read,
    probe: createProbe(queue.write),
    sizes: () => checkpointer?.sizes(),
    async close() {
      await queue.close()
      await checkpointer?.close()
      await logSync?.close()
      reader.close()
      try {
        writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch (error) {
        // No data is lost: SQLite reads the log when it opens the file again.
        log.warn('sqlite_checkpoint_failed', describeError(error))
      }
      writer.close()
    },
  }
}

/** Opens a connection with the settings of every writer. */
export async function openSqliteWriter(path: string, busyTimeoutMs: number): Promise<Database> {
  const database = new Database(path, { create: true, strict: true })
  try {
    // Set the timeout first: even preparing a statement can wait for a process that opens or closes the file.
    database.run(`PRAGMA busy_timeout=${OPEN_WITHIN_MS}`)
    const { version } = database.query('select sqlite_version() as version').get() as { version: string }
    if (isVersionBelow(version, MIN_SQLITE_VERSION)) {
      throw new Error(
        `SQLite ${version} can lose data (WAL-reset bug); ${MIN_SQLITE_VERSION} or newer is needed. ` +
          'It comes with Bun: install the version that package.json names.',
      )
    }
    await useWriteAheadLog(database, path)
    for (const pragma of PRAGMAS) database.run(`PRAGMA ${pragma}`)
    database.run(`PRAGMA busy_timeout=${busyTimeoutMs}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Retries, because SQLite does not wait when two processes switch to WAL at the same time. */
async function useWriteAheadLog(database: Database, path: string) {
  const deadline = performance.now() + OPEN_WITHIN_MS
  for (;;) {
    try {
      const { journal_mode } = database.query('PRAGMA journal_mode=WAL').get() as { journal_mode: string }
      if (journal_mode === 'wal') return
      throw new Error(`${path} cannot have a write-ahead log: is it on a network file system?`)
    } catch (error) {
      if (!isLocked(error) || performance.now() > deadline) throw error
      await Bun.sleep(20)
    }
  }
}
