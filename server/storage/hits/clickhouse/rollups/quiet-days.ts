// What this process has seen of the changes of hits, and since when. A day is rolled up only after it was quiet for some
// time: durations are those of this process, so no clock that jumps makes a day quiet.

import { DAY_MS } from '../../../../lib/utc-day.ts'
import { readSilentBatches } from './silent-nodes.ts'
import type { RollClient } from './store-sums.ts'
import { type DayTouches, readIntent, readTouches } from './touches.ts'

export interface QuietTimes {
  /**
   * How long an intent must have been known, and the touches of a day unchanged, before the day is rolled up: longer than
   * an insert takes that began without knowing of the intent, and than a replica may be behind.
   */
  settleMs: number
  /** The same for a day that a deletion has touched once: the process may have been killed before it touched the day again. */
  unfinishedMs: number
}

/** What is in the database, each with the moment of this process since which it has been the same. */
export interface SeenChanges {
  intents: { day: number; at: number }[]
  days: Map<number, DayTouches & { at: number }>
  silent: { count: number; at: number } | undefined
}

export const createSeenChanges = (): SeenChanges => ({ intents: [], days: new Map(), silent: undefined })

/** Looks at all changes, and adds the intent to roll up days up to `last`. */
export async function lookAtChanges(client: RollClient, last: number, seen: SeenChanges): Promise<void> {
  await lookAtIntent(client, last, seen)
  const touches = await readTouches(client)
  const silent = await readSilentBatches(client.select)
  const at = performance.now()
  if (seen.silent?.count !== silent) seen.silent = { count: silent, at }
  // The touches of a day are gone when their table was lost: that is a change, too.
  for (const day of seen.days.keys()) if (!touches.has(day)) touches.set(day, NO_TOUCHES)
  seen.days = new Map(
    [...touches].map(([day, now]) => {
      const before = seen.days.get(day)
      return [day, { ...now, at: before?.touches === now.touches ? before.at : at }]
    }),
  )
}

const NO_TOUCHES: DayTouches = { touches: 0, isAwaited: false, isChanging: false }

/** Whoever knows an intent has to touch the days up to it for ever. So a clock that is ahead must not name days to come. */
const YESTERDAY = `intDiv(toUnixTimestamp(now()), ${DAY_MS / 1000}) - 1`
/** Before all days of hits. */
const NO_DAY = -(2 ** 31)

async function lookAtIntent(client: RollClient, last: number, seen: SeenChanges): Promise<void> {
  const known = await readIntent(client)
  // Another database, or one that was restored: what was seen is no longer there.
  seen.intents = seen.intents.filter(({ day }) => day <= known)
  if (last > known)
    await client.execute(
      `INSERT INTO roll_intents SETTINGS async_insert = 0
       SELECT least({p1:Int64}, ${YESTERDAY}) AS last, now64(3) WHERE last > {p2:Int64}`,
      { params: [last, Math.max(known, NO_DAY)] },
    )
  const day = last > known ? await readIntent(client) : known
  if ((seen.intents.at(-1)?.day ?? Number.NEGATIVE_INFINITY) < day)
    seen.intents.push({ day, at: performance.now() })
}

/** @returns whether a day has been quiet at the moment `at` of this process */
export function createQuietCheck(
  { intents, days, silent }: SeenChanges,
  { settleMs, unfinishedMs }: QuietTimes,
  at = performance.now(),
): (day: number) => boolean {
  const isPast = (since: number | undefined, ms: number) => since !== undefined && at - since >= ms
  return (day) => {
    // A node of the release before is at work: whatever is rolled up now would not count soon.
    if (!isPast(silent?.at, settleMs)) return false
    if (!isPast(intents.find((each) => each.day >= day)?.at, settleMs)) return false
    const changes = days.get(day)
    if (!changes) return true
    return !changes.isAwaited && isPast(changes.at, changes.isChanging ? unfinishedMs : settleMs)
  }
}
