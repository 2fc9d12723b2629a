// Check: the hit store answers, and its database is of this installation.

import { findClickHouseProblem } from '../../../storage/hits/clickhouse/find-problem.ts'
import { readInstanceName } from '../../cluster/instance.ts'
import { type CheckResult, ok, problem } from '../finding.ts'
import { type DoctorNeeds, withRows } from '../needs.ts'

export async function checkHitStore(needs: DoctorNeeds): Promise<CheckResult[]> {
  const { clickHouseUrls } = needs.settings
  if (clickHouseUrls) {
    const instance = await withRows(needs, readInstanceName).catch(() => undefined)
    const found = await findClickHouseProblem(clickHouseUrls, instance)
    if (found)
      return [problem(found.sentence, 'Until it works, clicks wait on the disk and analytics answer 503.')]
  }
  try {
    const inspection = await needs.inspectHits(false)
    if (!inspection) return [ok('No click has been stored yet.')]
    return [ok(`${inspection.version} answers.`)]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [
      problem(
        `The hit store does not answer: ${reason}`,
        'See the log of the server for hit_engine_down. Redirects continue, and clicks wait on the disk.',
      ),
    ]
  }
}
