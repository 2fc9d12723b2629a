// Writes SQLite's file anew, without free pages and without traces of deleted rows. The writer is locked out meanwhile.

import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { findShortage } from '../disk-space.ts'

/** SQLite writes a copy for itself first, and then the log has all of it before the file has. */
const FREE_FACTOR = 2

/**
 * Only for a file that no server uses.
 * @returns the bytes before and after @throws a sentence for the operator, where the disk has no room for it
 */
export async function compactSqlite(path: string): Promise<{ before: number; after: number }> {
  const before = statSync(path).size
  const shortage = await findShortage(dirname(path), FREE_FACTOR * before)
  if (shortage)
    throw new Error(`The disk needs ${shortage.needed} of free space for this, and has ${shortage.free}.`)
  const database = new Database(path, { create: false, readwrite: true })
  try {
    database.run('PRAGMA busy_timeout=5000')
    database.run('VACUUM')
    database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    database.close()
  }
  return { before, after: statSync(path).size }
}
