// A mark file that exists while a server runs on a data directory, and contains its own inode number. In a copy that was made
// meanwhile the inode differs. Files of such a copy were read at different times, so its database is checked before it is used.

import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { log } from '../lib/log.ts'
import { toSqlitePath } from './database/open-reader.ts'

const toMarkPath = (dataDir: string) => join(dataDir, 'server.running')

/**
 * Marks the directory as in use. The caller holds its lock.
 * @returns a function that removes the mark, for the end of an orderly stop
 * @throws a sentence for the operator, when the directory is a copy whose database is damaged
 */
export function markRunning(dataDir: string): () => void {
  const path = toMarkPath(dataDir)
  if (isCopied(path)) {
    verifyCopiedDatabase(dataDir)
    log.warn('data_directory_was_copied_while_a_server_ran', { dataDir, effect: EFFECT })
  }
  // Creates a new file, so that the mark of the copy keeps its number until here.
  rmSync(path, { force: true })
  writeFileSync(path, '', { mode: 0o600 })
  writeFileSync(path, `${statSync(path).ino}\n`)
  return () => rmSync(path, { force: true })
}

const EFFECT =
  'Data written during the copy may be missing. `npx towpath backup` can copy while the server runs.'

/** True for a copy. After a crash, and in a snapshot of the whole disk, the mark has its own number. */
function isCopied(path: string): boolean {
  const inode = statSync(path, { throwIfNoEntry: false })?.ino
  if (inode === undefined) return false
  const noted = readFileSync(path, 'utf8').trim()
  return noted !== '' && noted !== String(inode)
}

function verifyCopiedDatabase(dataDir: string) {
  const path = toSqlitePath(dataDir)
  if (!existsSync(path)) return
  const problem = findDamage(path)
  if (problem !== undefined)
    throw new Error(
      `${dataDir} is a copy that was made while a server wrote to it, and the database in it is damaged (${problem}). ` +
        'Copy it again with `npx towpath backup`, or while the server is stopped.',
    )
}

/** Reads the whole file. @returns the first problem that SQLite finds */
function findDamage(path: string): string | undefined {
  const database = new Database(path, { readwrite: true, create: false })
  try {
    const [first] = database.query('PRAGMA integrity_check(1)').all() as { integrity_check: string }[]
    return first?.integrity_check === 'ok' ? undefined : (first?.integrity_check ?? 'no answer')
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    database.close()
  }
}
