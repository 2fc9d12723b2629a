// Opens the hits for questions and exports of a command, with or without a running server.

import type { Config } from '../config/config.ts'
import { deleteHitCopy, toHitCopyPath } from '../features/hits/batches/hit-copy.ts'
import { openServices } from '../start/services.ts'
import { createClickHouseClient } from '../storage/hits/clickhouse/client.ts'
import { openClickHouseExporter } from '../storage/hits/clickhouse/export.ts'
import { createQuestionRunner } from '../storage/hits/clickhouse/query.ts'
import { openHitCopy } from '../storage/hits/duckdb/open-hit-copy.ts'
import type { HitReader } from '../storage/hits/hit-engine.ts'
import { isDataDirLocked } from '../storage/lock.ts'
import { CommandError } from './command.ts'
import { obtainHitCopy } from './move/obtain-hit-copy.ts'

interface OpenHits {
  hits: Pick<HitReader, 'ask' | 'export'>
  close(): Promise<void>
}

/**
 * Opens the hits for a command: those of ClickHouse, or a copy that the running server makes of its DuckDB file.
 * Without a running server, this process acts as one meanwhile.
 * @param scratchDir a directory of this command only
 */
export async function openHitReader(
  config: Config,
  scratchDir: string,
  signal: AbortSignal,
): Promise<OpenHits> {
  if (config.clickHouseUrls) {
    const client = createClickHouseClient(config.clickHouseUrls)
    const exporter = openClickHouseExporter(client, scratchDir)
    return {
      hits: { ask: createQuestionRunner(client).ask, export: exporter.run },
      async close() {
        await exporter.close()
        await client.close()
      },
    }
  }
  if (!isDataDirLocked(config.dataDir)) {
    const services = await openServices(config)
    await services.hitWorker.drain()
    return { hits: services.hitWorker, close: services.close }
  }
  if (!(await obtainHitCopy(config.dataDir, signal)))
    throw new CommandError(
      'The server cannot provide its hits. Try again when it is ready (/readyz), or stop it.',
    )
  const copy = await openHitCopy(toHitCopyPath(config.dataDir), scratchDir)
  return {
    hits: copy,
    async close() {
      await copy.close()
      await deleteHitCopy(config.dataDir)
    },
  }
}
