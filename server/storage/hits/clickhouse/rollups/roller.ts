// Rolls up closed days in ClickHouse, some at a call, and then months. Several nodes may do so at once. Validity is
// decided by marks and changes, never by a clock. A clock only says when a day has ended.

import { describeError, log } from '../../../../lib/log.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { HitEngine, RollUpProgress } from '../../hit-engine.ts'
import { toMonth } from '../../rollups/rollup.ts'
import { readReplication, requireCaughtUp } from '../caught-up.ts'
import { isOfServer } from '../clickhouse-error.ts'
import type { ClickHouseClient } from '../client.ts'
import { createAudit } from './audit.ts'
import { type ClosedDays, readClosedDays, toSpan } from './closed-days.ts'
import { readMutations } from './day-snapshot.ts'
import { isUnreadable } from './find-unreadable.ts'
import { createQuietCheck, createSeenChanges, lookAtChanges, type QuietTimes } from './quiet-days.ts'
import { rollDays } from './roll-day.ts'
import { findMonth, rollMonth } from './roll-month.ts'
import { RULES } from './roll-rules.ts'
import { readValidRolls, type ValidRolls } from './roll-state.ts'
import { listOpenRolls } from './roll-steps.ts'
import { BOOKKEEPING_TABLES, SUM_TABLES } from './roll-tables.ts'
import type { RollClient } from './store-sums.ts'
import { createSweeper } from './sweep.ts'

/** A day is closed this long after its end: most nodes have sent its last hits by then. */
const CLOSED_AFTER_MS = 15 * 60_000
const SETTLE_MS = 5 * 60_000
const UNFINISHED_MS = 60 * 60_000
const ALL_TABLES = ['hits', 'hit_marks', ...BOOKKEEPING_TABLES, ...SUM_TABLES]
const CATCH_UP_MS = 10_000
/** How many settle times a day or a month rests after a failure, and after each later one: 10 minutes, then an hour. */
const RESTS = [2, 12]
/** How many days or months are tried at a call until one is rolled up, and how long: maintenance of hits waits meanwhile. */
const ATTEMPTS = 3
const ATTEMPTS_MS = 60_000

/** Each statement that reads, unless it says otherwise: redirects and questions go first. A large day takes a second. */
const BACKGROUND_SETTINGS = { max_threads: 2, max_execution_time: 60 }

const toBackground = ({ select, execute }: RollClient): RollClient => ({
  select: (sql, call) => select(sql, { ...call, settings: { ...BACKGROUND_SETTINGS, ...call?.settings } }),
  execute,
})

export interface DayRoller extends Pick<HitEngine, 'rollUp'> {
  /** A question, a change of hits or an erasure could not read the roll-ups. */
  noteTrouble(): void
}

export function createDayRoller(
  client: Pick<ClickHouseClient, 'atOneServer'>,
  { settleMs = SETTLE_MS, unfinishedMs = UNFINISHED_MS }: Partial<QuietTimes> = {},
): DayRoller {
  const seen = createSeenChanges()
  const audit = createAudit({ confirmMs: settleMs, graceMs: 2 * settleMs })
  const sweeper = createSweeper()
  const roller: RollerState = {
    days: createRests(settleMs),
    months: createRests(settleMs),
    noteDeletions: createDeletionWatch(),
    takeChanges: () => ({ changes: seen.days, isQuiet: createQuietCheck(seen, { settleMs, unfinishedMs }) }),
  }

  async function rollUp(server: RollClient, now: number): Promise<RollUpProgress> {
    // Such a server does not say which changes it lacks.
    if ((await readReplication(server)) === 'shared') return { rolled: 0, waiting: 0 }
    await requireCaughtUp(server, ALL_TABLES, CATCH_UP_MS)
    const last = Math.floor((now - CLOSED_AFTER_MS) / DAY_MS) - 1
    await audit.runWhenDue(server)
    await lookAtChanges(server, last, seen)
    // The audit may have taken minutes, and a batch that is loaded now may have hits that this replica lacks.
    await requireCaughtUp(server, ALL_TABLES, CATCH_UP_MS)
    const valid = await readValidRolls(server.select, RULES)
    const closed = await readClosedDays(server, last, valid)
    const tries: Tries = { failures: [], until: performance.now() + ATTEMPTS_MS }
    const days = await rollNextDays(server, roller, closed, tries)
    const months = days > 0 ? 0 : await rollNextMonth(server, roller, valid, closed, tries)
    const rolled = days + months
    if (tries.failures.some(isUnreadable)) audit.noteTrouble()
    if (rolled === 0) await sweeper.runWhenDue(server)
    if (rolled === 0 && tries.failures.length > 0) throw tries.failures[0]
    const progress = { rolled, waiting: closed.raw.length - days }
    return audit.isComparing() ? { ...progress, isComparing: true } : progress
  }

  return {
    noteTrouble: audit.noteTrouble,
    rollUp: (now) =>
      audit.watch(() => client.atOneServer((server) => rollUp(toBackground(server), now), false)),
  }
}

interface RollerState {
  days: Rests
  months: Rests
  noteDeletions(unfinished: number): void
  takeChanges(): { changes: ReadonlyMap<number, { changes: number }>; isQuiet: (day: number) => boolean }
}

interface Tries {
  failures: unknown[]
  /** On the monotonic clock. */
  until: number
}

/** The next days that can be rolled up. Those that fail do not keep the later ones waiting. @returns how many */
async function rollNextDays(
  server: RollClient,
  { days: rests, takeChanges, noteDeletions }: RollerState,
  closed: ClosedDays,
  tries: Tries,
): Promise<number> {
  // A deletion runs: the hits of any day may change.
  const { unfinished } = await readMutations(server.select)
  noteDeletions(unfinished)
  if (unfinished > 0) return 0
  const { changes, isQuiet } = takeChanges()
  const taken = new Set((await listOpenRolls(server)).map(({ day }) => day))
  const isReady = (day: number) => isQuiet(day) && !taken.has(day) && !rests.isResting(day)
  for (let attempt = 0; attempt < ATTEMPTS && performance.now() < tries.until; attempt++) {
    const start = closed.raw.find(isReady)
    if (start === undefined) return 0
    let span = { start, end: start + 1 }
    const rolled = await tryTo(start, 'days', tries, async () => {
      // A day that has failed is tried alone: it would let the days beside it fail, too.
      if (!rests.hasFailed(start))
        span = await toSpan(server, closed, start, (day) => isReady(day) && !rests.hasFailed(day))
      return rollDays(server, span, changes)
    })
    for (let day = span.start; day < span.end; day++) {
      taken.add(day)
      if (rolled !== 'busy') rests.note(day, rolled?.includes(day) ?? false)
    }
    if (rolled && rolled !== 'busy' && rolled.length > 0) return rolled.length
  }
  return 0
}

/** @returns 1 when a month is rolled up */
async function rollNextMonth(
  server: RollClient,
  { months: rests }: RollerState,
  valid: ValidRolls,
  closed: ClosedDays,
  tries: Tries,
): Promise<number> {
  const tried = new Set<number>()
  const withHits = closed.months.map(({ first }) => toMonth(first))
  for (let attempt = 0; attempt < ATTEMPTS && performance.now() < tries.until; attempt++) {
    const month = findMonth(
      valid,
      withHits.filter((each) => !tried.has(each) && !rests.isResting(each)),
    )
    if (month === undefined) return 0
    const isRolled = (await tryTo(month, 'months', tries, () => rollMonth(server, month))) ?? false
    rests.note(month, isRolled)
    if (isRolled) return 1
    tried.add(month)
  }
  return 0
}

/** @returns undefined after a failure, which is logged and remembered @throws a failure that no day is to blame for */
async function tryTo<T>(
  start: number,
  rollUp: 'days' | 'months',
  { failures }: Tries,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isOfServer(error)) throw error
    log.error('hits.roll_up_failed', {
      rollUp,
      start: new Date(start * DAY_MS).toISOString(),
      ...describeError(error),
    })
    failures.push(error)
    return undefined
  }
}

interface Rests {
  isResting(day: number): boolean
  hasFailed(day: number): boolean
  note(day: number, isRolled: boolean): void
}

/** A failed day rests longer than the loop of the worker sleeps: else it would be the next one again. */
function createRests(settleMs: number): Rests {
  const failed = new Map<number, { times: number; until: number }>()
  return {
    isResting: (day) => performance.now() < (failed.get(day)?.until ?? 0),
    hasFailed: (day) => failed.has(day),
    note(day, isRolled) {
      if (isRolled) return void failed.delete(day)
      const times = failed.get(day)?.times ?? 0
      const rest = (RESTS[times] ?? RESTS.at(-1) ?? 0) * settleMs
      failed.set(day, { times: times + 1, until: performance.now() + rest })
    },
  }
}

const TELL_EVERY_MS = 60 * 60_000

/** Warns every hour while deletions of hits do not end: ClickHouse tries a failing one for ever. */
function createDeletionWatch(): (unfinished: number) => void {
  let tellAt: number | undefined
  return (unfinished) => {
    const now = performance.now()
    if (unfinished === 0) tellAt = undefined
    else tellAt ??= now + TELL_EVERY_MS
    if (tellAt === undefined || now < tellAt) return
    tellAt = now + TELL_EVERY_MS
    log.warn('hits.roll_ups_wait_for_deletions', { deletions: unfinished })
  }
}
