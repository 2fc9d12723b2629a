// Where DuckDB's file of hits is, and the files beside it. Who only asks for a path does not load the engine.

import { join } from 'node:path'

export const toHitFilePath = (dataDir: string) => join(dataDir, 'hits.duckdb')

/** Where the engine's owner puts the backup (`HitEngine.backup`). */
export const toBackupPath = (path: string) => `${path}.backup`

/** The marker of damage inside the data (see damage-watch.ts): with it, the next opening reads all hits, or quarantines the file. */
export const toDamageMarkerPath = (path: string) => `${path}.unreadable`
