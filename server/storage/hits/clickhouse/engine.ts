// The hit engine of installations with several nodes: tables in a ClickHouse server that all nodes share.

import { createSerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import type { HitEngine } from '../hit-engine.ts'
import { createClickHouseClient } from './client.ts'
import { deleteHitsBefore, deleteImportedHits, eraseWorkspaceHits } from './delete.ts'
import { openClickHouseExporter } from './export.ts'
import { inspectClickHouse } from './inspect.ts'
import { migrateTables } from './layout.ts'
import { createHitLoader } from './load.ts'
import { createQuestionRunner } from './query.ts'

export interface ClickHouseOptions {
  /** Replicas of one server, in the order in which they are used. */
  urls: string[]
  /** The only directory that exports may write to. */
  scratchDir: string
  /** Hits recorded before this moment are not loaded from a batch. */
  since?: () => number
  /** The random name of the installation. A database that belongs to another one is refused. */
  instance?: string
}

/**
 * Opens the database, and creates the tables of this release.
 * @throws `ClickHouseError` when it cannot be used; `findClickHouseProblem` finds the reason
 */
export async function openClickHouse({
  urls,
  scratchDir,
  since = () => 0,
  instance,
}: ClickHouseOptions): Promise<HitEngine> {
  const client = createClickHouseClient(urls)
  const loader = createHitLoader(client)
  const inTurn = createSerialQueue()
  try {
    await migrateTables(client, instance)
  } catch (error) {
    await client.close()
    throw error
  }
  const exporter = openClickHouseExporter(client, scratchDir)
  return {
    ...createQuestionRunner(client),
    export: exporter.run,
    // There are no roll-ups: docs/adr/0065-no-roll-ups-in-clickhouse.md.
    rollUp: async () => ({ rolled: 0, waiting: 0 }),
    mark: loader.mark,
    load: (batch) => inTurn(() => loader.load(batch, since())),
    skip: loader.skip,
    inspect: (withClicks) => inspectClickHouse(client, withClicks),
    deleteBefore: (before) => inTurn(() => deleteHitsBefore(client, before)),
    deleteImported: (hits) => inTurn(() => deleteImportedHits(client, hits)),
    erase: (workspaceIds) => inTurn(() => eraseWorkspaceHits(client, workspaceIds)),
    async close() {
      await exporter.close()
      await client.close()
    },
  }
}
