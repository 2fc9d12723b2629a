// Paths of DuckDB's file of hits and of the files beside it. This file does not load the engine.

import { join } from 'node:path'

export const toHitFilePath = (dataDir: string) => join(dataDir, 'hits.duckdb')

/** Where the engine's owner puts the backup (`HitEngine.backup`). */
export const toBackupPath = (path: string) => `${path}.backup`

/** The marker of damage inside the data (see damage-watch.ts): with it, the next opening reads all hits, or quarantines the file. */
export const toDamageMarkerPath = (path: string) => `${path}.unreadable`

/** Where an erasure writes the file anew. */
export const toErasingPath = (path: string) => `${path}.erasing`

/** Where a copy is until all of it is on the disk. */
export const toHalfCopyPath = (path: string) => `${path}.half`

/** The spill directory of queries: it may hold raw clicks, among other things. */
export const toSpillPath = (path: string) => `${path}.tmp`

/** Files that a killed process may leave behind. They may have hits that were deleted later. */
export const listLeftoverPaths = (path: string) => [
  toSpillPath(path),
  toHalfCopyPath(path),
  toHalfCopyPath(toBackupPath(path)),
  toErasingPath(path),
  `${toErasingPath(path)}.wal`,
]

/** The roll-ups that failed, which rest (see rollups/failures.ts). */
export const toFailuresPath = (path: string) => `${path}.roll-up-failures`
