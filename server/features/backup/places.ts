// The files and directories of backups and restores, by name.

import { realpathSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** The part of a backup that has the files of DATA_DIR, under the same names. */
export const DATA = 'data'
export const MANIFEST = 'manifest.json'
/** In the format of `sha256sum`. */
export const SUMS = 'SHA256SUMS'
export const INSTRUCTIONS = 'RESTORE.txt'

/** The name of an incomplete backup: one that is being made or deleted. */
export const toHalfPath = (backup: string) => `${backup}.half`

/** Links to the files of the hits, as they were at the moment of the backup that is being made. */
export const toStagePath = (dataDir: string) => join(dataDir, 'backup')

/** The draft of an unfinished restore. While it is there, no server starts. */
export const toRestoreDraft = (dataDir: string) => join(dataDir, 'restoring')

/** Whether a path is in a directory, or is the directory. Follows symbolic links as far as the path exists. */
export function isInside(path: string, directory: string): boolean {
  const way = relative(toRealPath(directory), toRealPath(path))
  return way === '' || !(way === '..' || way.startsWith('../'))
}

function toRealPath(path: string): string {
  const absolute = resolve(path)
  try {
    return realpathSync(absolute)
  } catch {
    const parent = dirname(absolute)
    return parent === absolute ? absolute : join(toRealPath(parent), relative(parent, absolute))
  }
}
