// Opens the hit engine: ClickHouse where the operator has one, else DuckDB in the data directory. The other files of
// this room know no engine by its name.

import { join } from 'node:path'
import { openClickHouse } from '../../../storage/hits/clickhouse/engine.ts'
import { openDuckDb } from '../../../storage/hits/duckdb/engine.ts'
import { toBackupPath, toHitFilePath } from '../../../storage/hits/duckdb/hit-file.ts'
import type { HitEngine } from '../../../storage/hits/hit-engine.ts'
import type { WorkerSettings } from './protocol.ts'

/** Where an engine that makes backups finds them when its own file is lost. */
export const toEngineBackupPath = (dataDir: string) => toBackupPath(toHitFilePath(dataDir))

/** @param since hits recorded before this moment are past their retention */
export function openEngine(settings: WorkerSettings, since: () => number): Promise<HitEngine> {
  const { dataDir, clickHouseUrls: urls, instance, rollUpPace } = settings
  const scratchDir = join(dataDir, 'tmp')
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
