// Finds files in the data directory that another user's server has written, such as root's. Without this check, the
// failure would be "unable to open database file", or would come hours later.

import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The files of a server in its directory. An operator may keep other files beside them. */
const OWN_NAMES = [
  'towpath.db',
  'towpath.db-wal',
  'towpath.db-shm',
  'server.lock',
  'server.running',
  'ship.lock',
  'hits.duckdb',
  'hits.duckdb.wal',
  'spool',
  'batches',
  'snippet',
  'tmp',
]

/** @returns the first file of a server that this user may not use */
export function findForeignFile(dataDir: string): { path: string; uid: number } | undefined {
  const toPaths = (name: string) => {
    const path = join(dataDir, name)
    return [path, ...(name === 'spool' || name === 'batches' ? listChildren(path) : [])]
  }
  const secret = join(dataDir, 'secret')
  const path = isUsable(secret, constants.R_OK)
    ? OWN_NAMES.flatMap(toPaths).find((each) => !isUsable(each, constants.R_OK | constants.W_OK))
    : secret
  return path === undefined ? undefined : { path, uid: statSync(path).uid }
}

/** True for a file that does not exist: a server that runs may have removed it just now. */
function isUsable(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

function listChildren(dir: string): string[] {
  try {
    return readdirSync(dir).map((name) => join(dir, name))
  } catch {
    return []
  }
}
