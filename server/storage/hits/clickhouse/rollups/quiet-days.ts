// The changes of hits that this process has seen, and since when. A day is rolled up only after it was quiet for some
// time. Durations are measured in this process, so no clock that jumps makes a day quiet.

import { DAY_MS } from '../../../../lib/utc-day.ts'
import {
  createChangeSource,
  type DayChanges,
  readDayChanges,
  readIntent,
  recordDayChanges,
} from './day-changes.ts'
import { recordAllDaysChanged } from './reset.ts'
import { NO_DAY } from './roll-tables.ts'
import { readSilentBatches } from './silent-nodes.ts'
import type { RollClient } from './store-sums.ts'

export interface QuietTimes {
  /**
   * How long an intent must have been known, and the changes of a day unchanged, before the day is rolled up: longer than
   * an insert takes that began without knowing of the intent, and than a replica may be behind.
   */
  settleMs: number
  /** The same for a day with the beginning of a deletion: the process may have been killed before it recorded the end. */
  unfinishedMs: number
}

/** The state in the database, with the moment of this process since which each part has been the same. */
export interface SeenChanges {
  intents: { day: number; at: number }[]
  days: Map<number, DayChanges & { at: number }>
  silent: { count: number; at: number } | undefined
}

export const createSeenChanges = (): SeenChanges => ({ intents: [], days: new Map(), silent: undefined })

/**
 * Looks at all changes, and adds the intent to roll up days up to `last`. The changes are read before the intents: when
 * these are lost after that, the process that stores the next one records changes of the days that this process has seen.
 */
export async function lookAtChanges(client: RollClient, last: number, seen: SeenChanges): Promise<void> {
  await storeIntent(client, last)
  let changes = await readDayChanges(client)
  if (await recordUnchangedDays(client, last, changes)) changes = await readDayChanges(client)
  const known = await readIntent(client)
  const silent = await readSilentBatches(client.select)
  const at = performance.now()
  // Intents that were lost count no more.
  seen.intents = seen.intents.filter(({ day }) => day <= known)
  if ((seen.intents.at(-1)?.day ?? NO_DAY) < known) seen.intents.push({ day: known, at })
  if (seen.silent?.count !== silent) seen.silent = { count: silent, at }
  // The changes of a day are gone when their table was lost: that is a change, too.
  for (const day of seen.days.keys()) if (!changes.has(day)) changes.set(day, NO_CHANGES)
  seen.days = new Map(
    [...changes].map(([day, now]) => {
      const before = seen.days.get(day)
      return [day, { ...now, at: before?.changes === now.changes ? before.at : at }]
    }),
  )
}

const NO_CHANGES: DayChanges = { changes: 0, isAwaited: false, isChanging: false }

/**
 * A process that knows an intent records changes for all days up to it, for ever. So a fast clock must not name future
 * days.
 */
const YESTERDAY = `intDiv(toUnixTimestamp(now()), ${DAY_MS / 1000}) - 1`

/**
 * Days after the last intent may have been rolled up already, when intents were lost. Hits have come meanwhile, and nobody
 * has recorded changes of their days: so these roll-ups must not count again.
 */
async function storeIntent(client: RollClient, last: number): Promise<void> {
  const known = Math.max(await readIntent(client), NO_DAY)
  if (last <= known) return
  const [[day] = []] = await client.select(`SELECT least({p1:Int64}, ${YESTERDAY})`, { params: [last] })
  if (Number(day) <= known) return
  await recordAllDaysChanged(client, known)
  await client.execute('INSERT INTO roll_intents SETTINGS async_insert = 0 SELECT {p1:Int64}, now64(3)', {
    params: [Number(day)],
  })
}

/**
 * Records changes of the days up to `last` that have none: a mark without any would count again when changes are lost.
 */
async function recordUnchangedDays(
  client: RollClient,
  last: number,
  changes: ReadonlyMap<number, DayChanges>,
): Promise<boolean> {
  // ClickHouse knows these bounds without reading hits.
  const [[count, first, end] = []] = await client.select(
    `SELECT count(), intDiv(min(recorded_at), ${DAY_MS}), least(intDiv(max(recorded_at), ${DAY_MS}), ${YESTERDAY}, {p1:Int64})
     FROM hits`,
    { params: [last] },
  )
  const days: number[] = []
  if (Number(count) > 0)
    for (let day = Number(first); day <= Number(end); day++) if (!changes.get(day)?.changes) days.push(day)
  await recordDayChanges(client, createChangeSource('roll'), days)
  return days.length > 0
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
    if (!changes?.changes) return false
    return !changes.isAwaited && isPast(changes.at, changes.isChanging ? unfinishedMs : settleMs)
  }
}
