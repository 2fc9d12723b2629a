// Paths of DuckDB's file of hits and of the files beside it. Importing this file does not load the engine.

import { join } from 'node:path'

export const toHitFilePath = (dataDir: string) => join(dataDir, 'hits.duckdb')

/** The path of the backup (`HitEngine.backup`). */
export const toBackupPath = (path: string) => `${path}.backup`

/** The marker of damage inside the data (see damage-watch.ts): with it, the next opening reads all hits, or quarantines the file. */
export const toDamageMarkerPath = (path: string) => `${path}.unreadable`

/** The path to which an erasure rewrites the file. */
export const toErasingPath = (path: string) => `${path}.erasing`

/** The path of a copy until all of it is on the disk. */
export const toHalfCopyPath = (path: string) => `${path}.half`

/** The spill directory of queries, which can contain raw clicks. */
export const toSpillPath = (path: string) => `${path}.tmp`

/** Files that a killed process can leave behind. They can have hits that were deleted later. */
export const listLeftoverPaths = (path: string) => [
  toSpillPath(path),
  toHalfCopyPath(path),
  toHalfCopyPath(toBackupPath(path)),
  toErasingPath(path),
  `${toErasingPath(path)}.wal`,
]

/** The file of failed roll-ups (see rollups/failures.ts). */
export const toFailuresPath = (path: string) => `${path}.roll-up-failures`
