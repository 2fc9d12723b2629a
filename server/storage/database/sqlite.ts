// Rows in one SQLite file: many readers of committed state, one writer, which commits in groups: a synced commit
// of one row measured 5,000 rows a second, of 50 rows 117,000.

import { Database } from 'bun:sqlite'
import { describeError, log } from '../../lib/log.ts'
import { type Connection, createProbe, type DatabaseHandle } from './database.ts'
import { isLocked } from './errors.ts'
import { openGroupCommit } from './group-commit.ts'
import { createSqliteKysely } from './sqlite-kysely.ts'

/** Below it a checkpoint racing a write can lose committed data (the WAL-reset bug). */
export const MIN_SQLITE_VERSION = '3.51.3'

/** @param version `3.51.3` */
export function isVersionBelow(version: string, floor: string): boolean {
  const [parts, floors] = [version, floor].map((text) => text.split('.').map(Number)) as [number[], number[]]
  const differs = floors.findIndex((number, i) => (parts[i] ?? 0) !== number)
  return differs >= 0 && (parts[differs] ?? 0) < (floors[differs] ?? 0)
}

const OPEN_WITHIN_MS = 10_000
// Longer than any migration; another process that migrates is waited for, since nobody is served yet.
const MIGRATION_WAIT_MS = 10 * 60_000

const PRAGMAS = [
  'synchronous=FULL',
  'foreign_keys=ON',
  'trusted_schema=OFF',
  'cell_size_check=ON',
  'wal_autocheckpoint=1000',
  'journal_size_limit=67108864',
  'temp_store=MEMORY',
  // What is deleted is overwritten: an address that was erased is not to be found in a free page.
  'secure_delete=ON',
]

/** For migrations alone, before anything else has the file open. */
export async function openSqliteMigrator(path: string): Promise<Connection> {
  return createSqliteKysely(await openSqliteWriter(path, MIGRATION_WAIT_MS))
}

/** @param path of the database file, made when absent. Not on a network file system: WAL needs shared memory. */
export async function openSqlite(path: string): Promise<DatabaseHandle> {
  // A busy_timeout would block the whole event loop; the group commit waits for a lock without blocking.
  const writer = await openSqliteWriter(path, 0)
  const reader = new Database(path, { readonly: true, strict: true })
  reader.run('PRAGMA busy_timeout=1000')
  reader.run('PRAGMA trusted_schema=OFF')
  const queue = openGroupCommit(writer)
  return {
    engine: 'sqlite',
    read: createSqliteKysely(reader),
    write: queue.write,
    probe: createProbe(queue.write),
    async close() {
      await queue.close()
      reader.close()
      try {
        writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch (error) {
        // Nothing is lost: the log is read when the file is opened again.
        log.warn('sqlite_checkpoint_failed', describeError(error))
      }
      writer.close()
    },
  }
}

/** As every writer has it. */
export async function openSqliteWriter(path: string, busyTimeoutMs: number): Promise<Database> {
  const database = new Database(path, { create: true, strict: true })
  try {
    // First of all: even to prepare a statement is to meet another process that opens or closes the file just now.
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

/** SQLite does not wait by itself where two processes make the change at once. */
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
