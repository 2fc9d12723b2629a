// Rewrites SQLite's file without free pages and traces of deleted rows. Meanwhile the writer is locked out.

import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { findShortage } from '../disk-space.ts'

/** SQLite first writes a temporary copy, and then the whole copy goes through the log. */
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
