// Looks at ClickHouse before the server starts: what an operator must correct stops the start, and an outage does not.

import type { Config } from './config.ts'
import { readInstanceName } from './features/cluster/instance.ts'
import { hasCountedBatches } from './features/links/counting/count-clicks.ts'
import type { Database } from './storage/database/open-database.ts'
import { findClickHouseProblem } from './storage/hits/clickhouse/find-problem.ts'

/**
 * An outage stops the first start of an installation only: where no hit was ever counted, the address is more likely to
 * be wrong than the server to be away.
 * @returns a warning for the operator, when ClickHouse is away and hits will wait for it
 * @throws a sentence for the operator, when ClickHouse cannot be used as it is set up
 */
export async function findHitStoreWarning(
  { clickHouseUrls }: Pick<Config, 'clickHouseUrls'>,
  db: Database,
): Promise<string | undefined> {
  if (!clickHouseUrls) return undefined
  const problem = await findClickHouseProblem(clickHouseUrls, await readInstanceName(db))
  if (!problem) return undefined
  if (!problem.isTemporary || !(await hasCountedBatches(db))) throw new Error(problem.sentence)
  return `${problem.sentence} Until then redirects and forms work, analytics answer 503, and clicks wait on the disk.`
}
