// The log of each roll-up's steps: who makes it now, whether it has ended, and whether it never counts again.

import type { SqlValue } from '../../../filter-sql.ts'
import { requireCaughtUp } from '../caught-up.ts'
import { toPlaceholder } from '../parameters.ts'
import type { DayChangeClient } from './day-changes.ts'

type RollStep = 'begun' | 'ended' | 'dropped' | 'audited' | 'unreadable'

/** A statement that fills a table of sums ends after this time, whether anybody waits for it or not. */
export const SUMS_SECONDS = 60
const SUMS_END_WITHIN_MS = SUMS_SECONDS * 1000 + 15_000
const POLL_MS = 200

/** How long the rows of an invalid roll-up stay. A question that finds them gone has read a mark for nothing. */
export const QUESTION_GRACE_MS = 10 * 60_000

export async function addStep(
  client: Pick<DayChangeClient, 'execute'>,
  step: RollStep,
  rolls: readonly number[],
  days: readonly number[] = rolls.map(() => 0),
): Promise<void> {
  if (rolls.length === 0) return
  const params: SqlValue[] = [[...rolls], [...days], step]
  const [rollList, dayList, name] = params.map((value, index) => toPlaceholder(index + 1, value))
  await client.execute(
    `INSERT INTO roll_steps (roll, day, step, made_at) SETTINGS async_insert = 0
     SELECT pair.1, pair.2, ${name}, now64(3) FROM (SELECT arrayJoin(arrayZip(${rollList}, ${dayList})) AS pair)`,
    { params },
  )
}

export interface OpenRoll {
  roll: number
  day: number
}

/** After this time, the process of a roll-up was killed. */
const OPEN_MINUTES_MAX = 10

/** The roll-ups that some process makes now. A month has the number of its first day, with a minus. */
export async function listOpenRolls(client: Pick<DayChangeClient, 'select'>): Promise<OpenRoll[]> {
  const rows = await client.select(
    `SELECT roll, any(day) FROM roll_steps GROUP BY roll
     HAVING countIf(step = 'begun' AND made_at > now64(3) - INTERVAL ${OPEN_MINUTES_MAX} MINUTE) > 0
       AND countIf(step IN ('ended', 'dropped')) = 0`,
  )
  return rows.map(([roll, day]) => ({ roll: Number(roll), day: Number(day) }))
}

/** Waits until the statements have ended that fill tables of sums now. */
export async function waitForSums(client: DayChangeClient): Promise<void> {
  const deadline = performance.now() + SUMS_END_WITHIN_MS
  await requireCaughtUp(client, ['roll_steps'], SUMS_END_WITHIN_MS)
  const first = await listOpenRolls(client)
  for (let open = first; open.length > 0 && performance.now() < deadline; ) {
    await Bun.sleep(POLL_MS)
    const now = await listOpenRolls(client)
    open = first.filter(({ roll }) => now.some((each) => each.roll === roll))
  }
}
