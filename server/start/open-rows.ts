// Opens the database after a look at the data directory: an older release must not touch what a newer one has written.

import type { Config } from '../config/config.ts'
import { VERSION } from '../config/version.ts'
import { BATCH_FORMAT } from '../features/hits/batches/batch-file.ts'
import { SPOOL_FORMAT } from '../features/hits/spool/record-format.ts'
import { type DataFormats, requireKnownFormats, writeFormats } from '../storage/data-formats.ts'
import { type DatabaseHandle, openDatabase } from '../storage/database/open-database.ts'
import { HIT_LAYOUT } from '../storage/hits/duckdb/layout.ts'

/** The formats of the files that this release writes into a data directory, beside the rows. */
const FORMATS: DataFormats = { spool: SPOOL_FORMAT, batches: BATCH_FORMAT, hits: HIT_LAYOUT }

/** @throws a sentence for the operator, when a newer release has written the directory or the rows */
export const requireOwnFormats = (dataDir: string) => requireKnownFormats(dataDir, FORMATS)

/** For the one server on the directory. The formats are written after the rows: a migration that fails changes no file. */
export async function openRows(
  config: Config,
  { emptyLogEveryMs }: { emptyLogEveryMs?: number } = {},
): Promise<DatabaseHandle> {
  await requireOwnFormats(config.dataDir)
  const db = await openDatabase({ ...config, isSoleServer: true, emptyLogEveryMs })
  await writeFormats(config.dataDir, { release: VERSION, formats: FORMATS })
  return db
}
