// Checks ClickHouse before the server starts: a mistake that the operator must correct stops the start, and an outage
// does not.

import { existsSync } from 'node:fs'
import { haveHitsMoved } from './cli/move/move-log.ts'
import type { Config } from './config.ts'
import { readInstanceName } from './features/cluster/instance.ts'
import { hasCountedBatches } from './features/links/counting/count-clicks.ts'
import type { Database } from './storage/database/open-database.ts'
import { findClickHouseProblem, findRollUpProblem } from './storage/hits/clickhouse/find-problem.ts'
import { toHitFilePath } from './storage/hits/duckdb/hit-file.ts'

/**
 * An outage stops the first start of an installation only: where no hit was ever counted, the address is more likely to
 * be wrong than the server to be away.
 * @returns a warning for the operator, when ClickHouse is away and hits will wait for it, or when days cannot be rolled up
 * @throws a sentence for the operator, when ClickHouse cannot be used as it is set up
 */
export async function findHitStoreWarning(
  { clickHouseUrls, dataDir }: Pick<Config, 'clickHouseUrls' | 'dataDir'>,
  db: Database,
): Promise<string | undefined> {
  if (!clickHouseUrls) return undefined
  await requireMovedHistory(toHitFilePath(dataDir), db)
  const problem = await findClickHouseProblem(clickHouseUrls, await readInstanceName(db))
  if (!problem) return findSlowQuestions(clickHouseUrls)
  if (!problem.isTemporary || !(await hasCountedBatches(db))) throw new Error(problem.sentence)
  return `${problem.sentence} Until then redirects and forms work, analytics answer 503, and clicks wait on the disk.`
}

async function findSlowQuestions(urls: string[]): Promise<string | undefined> {
  // A server that has answered a moment ago may be away now: the worker will say so.
  const sentence = await findRollUpProblem(urls).catch(() => undefined)
  return sentence && `${sentence} Until then every question is answered from clicks: as exact, and slower.`
}

/** After a move the file stays, and the rows say that it has moved. */
async function requireMovedHistory(path: string, db: Database) {
  if (!existsSync(path) || (await haveHitsMoved(db))) return
  throw new Error(
    `The clicks in ${path} are not in ClickHouse, so analytics would lack them. Run "towpath move" first (docs/move.md), ` +
      'without CLICKHOUSE_URL in the environment, or delete the file to go on without its clicks.',
  )
}
