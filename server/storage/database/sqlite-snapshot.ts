// Takes a snapshot of the SQLite file while a server writes, and reads facts from the copy.

import { Database } from 'bun:sqlite'
import { syncToDisk } from '../write-durably.ts'
import { listMigrations } from './migrate.ts'
import { REPLACED_STEPS } from './rename-steps.ts'

/**
 * A separate process, because the statement blocks it until the end. VACUUM INTO reads in one transaction and writes no
 * free pages, so the copy has no erased rows. The check finds damage by the disk.
 */
const SNAPSHOT_SCRIPT = `
  const { Database } = require('bun:sqlite')
  const [, from, to] = process.argv
  const source = new Database(from, { readonly: true })
  source.run('PRAGMA busy_timeout=10000')
  source.query('VACUUM INTO ?').run(to)
  source.close()
  const copy = new Database(to, { readonly: true })
  const [{ quick_check: verdict }] = copy.query('PRAGMA quick_check(1)').all()
  if (verdict !== 'ok') throw new Error('The copy of the rows is damaged: ' + verdict)`

export interface SqliteSnapshot {
  /** Resolves when the copy is complete, checked and on the disk. Rejects when it failed, or was stopped. */
  done: Promise<void>
  stop(): void
}

/** Starts the copy. The snapshot is taken before the new file begins to grow. */
export function startSqliteSnapshot(from: string, to: string): SqliteSnapshot {
  const child = Bun.spawn([process.execPath, '-e', SNAPSHOT_SCRIPT, from, to], {
    // A compiled server is its own executable. The variable makes it act as Bun.
    env: { BUN_BE_BUN: '1' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const finish = async () => {
    const [stderr, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
    if (code !== 0) throw new Error(`The rows could not be copied: ${toReason(stderr)}`)
    await syncToDisk(to)
  }
  return { done: finish(), stop: () => child.kill('SIGKILL') }
}

/** Finds the line of an uncaught error with its message. */
const toReason = (stderr: string) =>
  /^\w*Error: (.*)$/m.exec(stderr)?.[1] ?? stderr.trim().split('\n').at(-1) ?? 'no reason was given'

const COUNTED_TABLES = ['workspaces', 'links', 'forms', 'submissions', 'deliveries'] as const

export interface SqliteFacts {
  newestMigration: string
  counts: Record<(typeof COUNTED_TABLES)[number], number>
}

/** Reads a file that no other process writes. */
export function readSqliteFacts(path: string): SqliteFacts {
  const database = new Database(path, { readonly: true })
  try {
    const count = (table: string) =>
      database.query<{ rows: number }, []>(`select count(*) as rows from ${table}`).get()?.rows ?? 0
    const counts = Object.fromEntries(COUNTED_TABLES.map((table) => [table, count(table)]))
    const newest = database
      .query<{ name: string }, []>('select max(name) as name from kysely_migration')
      .get()
    return { newestMigration: newest?.name ?? '', counts: counts as SqliteFacts['counts'] }
  } finally {
    database.close()
  }
}

/** The keys of all files of submissions. */
export function listSqliteFileKeys(path: string): Set<string> {
  const database = new Database(path, { readonly: true })
  try {
    const rows = database.query<{ key: string }, []>('select key from submission_files').all()
    return new Set(rows.map(({ key }) => key))
  } finally {
    database.close()
  }
}

/** @returns true if this release knows the migration, by its current name or that of an unreleased version */
export const isKnownMigration = (name: string): boolean =>
  name in listMigrations('sqlite') || REPLACED_STEPS.includes(name)

/**
 * Skips the next ids of every table. For a file from a backup: clients may know ids from after the backup, and no new row
 * may get one of them.
 */
export function skipIds(path: string, ids: number): void {
  const database = new Database(path)
  try {
    database.run('PRAGMA synchronous=FULL')
    database.transaction(() => {
      database.run(`insert into sqlite_sequence (name, seq)
        select name, 0 from sqlite_schema
        where type = 'table' and sql like '%autoincrement%' and name not in (select name from sqlite_sequence)`)
      database.query('update sqlite_sequence set seq = seq + ?').run(ids)
    })()
  } finally {
    database.close()
  }
}
