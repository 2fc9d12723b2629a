// Opens the hit engine: ClickHouse if the operator has set it, else DuckDB in the data directory. The other files of
// this folder do not depend on a specific engine.

import { join } from 'node:path'
import { toScratchDirectory } from '../../../storage/export-directory.ts'
import { openClickHouse } from '../../../storage/hits/clickhouse/engine.ts'
import { openDuckDb } from '../../../storage/hits/duckdb/engine.ts'
import { toBackupPath, toHitFilePath } from '../../../storage/hits/duckdb/hit-file.ts'
import type { HitEngine } from '../../../storage/hits/hit-engine.ts'
import type { WorkerSettings } from './protocol.ts'

/** The path of the engine's backup, which replaces a lost file. */
export const toEngineBackupPath = (dataDir: string) => toBackupPath(toHitFilePath(dataDir))

/** @param since hits recorded before this moment are past their retention */
export function openEngine(settings: WorkerSettings, since: () => number): Promise<HitEngine> {
  const { dataDir, clickHouseUrls: urls, instance, rollUpPace } = settings
  const scratchDir = toScratchDirectory(dataDir)
  return urls
    ? openClickHouse({ urls, scratchDir, since, instance })
    : openDuckDb({
        path: toHitFilePath(dataDir),
        batchDir: join(dataDir, 'batches'),
        scratchDir,
        since,
        rollUpRestMs: rollUpPace.restMs,
      })
}
