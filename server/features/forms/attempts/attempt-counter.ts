// Counts by day how attempts to send a form end. It stores nothing of what was sent, nor of who sent it. Counts wait in
// memory and are written each second, so that no sender waits for a write. A killed process loses the last second.

import { sql } from 'kysely'
import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { toUtcDay } from '../../../lib/utc-day.ts'
import { toFailure } from '../../../storage/database/errors.ts'
import type { Database } from '../../../storage/database/open-database.ts'

/** In the order of the checks that end an attempt (docs/contract.md §7). */
export const ATTEMPT_OUTCOMES = [
  'stored',
  'rateLimited',
  'origin',
  'tooLarge',
  'unreadable',
  'honeypot',
  'validation',
  'captcha',
] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

export interface AttemptCounter {
  /**
   * Counts one attempt. With a field, it counts one mistake in that field; the attempt itself is counted by a call
   * without a field. It never throws and never waits.
   * @param field a name that the form's owner chose, because it is stored
   */
  count(formId: number, outcome: AttemptOutcome, field?: string): void
  /** Writes all counts so far. Counts that cannot be written wait for the next flush. */
  flush(): Promise<void>
  /** Writes the last counts. Later attempts are not counted. */
  close(): Promise<void>
}

export interface AttemptCounterNeeds {
  db: Database
  now: () => number
  everyMs?: number
}

interface Count {
  formId: number
  day: string
  outcome: AttemptOutcome
  field: string
  attempts: number
}

interface CounterState {
  db: Database
  everyMs: number
  /** Counts that are not written yet, by form, day, outcome and field. */
  waiting: Map<string, Count>
  timer: Timer | undefined
  flushing: Promise<void> | undefined
  closed: boolean
  /** The last write failed because the database was unavailable. */
  degraded: boolean
}

const FLUSH_EVERY_MS = 1_000
/** While the database is unavailable, memory holds at most this many different counts: 2 MB. */
const WAITING_MAX = 10_000
/** A write of SQLite holds up the redirects; this many counts take 5 ms. */
const PER_WRITE = 100

export function openAttemptCounter({
  db,
  now,
  everyMs = FLUSH_EVERY_MS,
}: AttemptCounterNeeds): AttemptCounter {
  const state: CounterState = {
    db,
    everyMs,
    waiting: new Map(),
    timer: undefined,
    flushing: undefined,
    closed: false,
    degraded: false,
  }
  return {
    count(formId, outcome, field = '') {
      if (state.closed) return
      addCount(state, { formId, day: toUtcDay(now()), outcome, field, attempts: 1 })
      scheduleFlush(state)
    },
    flush: () => flush(state),
    async close() {
      state.closed = true
      // A flush that began before the last counts may still run.
      await state.flushing
      await flush(state)
      clearTimeout(state.timer)
    },
  }
}

function addCount({ waiting }: CounterState, count: Count): void {
  const key = `${count.formId} ${count.day} ${count.outcome} ${count.field}`
  const known = waiting.get(key)
  if (known) known.attempts += count.attempts
  else if (waiting.size < WAITING_MAX) waiting.set(key, count)
}

function scheduleFlush(state: CounterState): void {
  if (state.timer === undefined && !state.closed) state.timer = setTimeout(() => flush(state), state.everyMs)
}

function flush(state: CounterState): Promise<void> {
  state.flushing ??= writeWaiting(state).finally(() => {
    state.flushing = undefined
    if (state.waiting.size > 0) scheduleFlush(state)
  })
  return state.flushing
}

/** Writes until nothing waits, or until the database is unavailable. */
async function writeWaiting(state: CounterState): Promise<void> {
  clearTimeout(state.timer)
  state.timer = undefined
  while (state.waiting.size > 0) {
    const counts = takeCounts(state)
    try {
      await store(state.db, counts)
    } catch (error) {
      const failure = toFailure(error)
      if (!(failure instanceof Failure && failure.code === 'unavailable')) {
        // A retry would fail the same way and keep all later counts waiting.
        log.error('attempts_lost', { kinds: counts.length, ...describeError(error) })
        continue
      }
      if (!state.degraded) log.warn('attempts_wait', describeError(error))
      state.degraded = true
      // A commit that got no answer may have succeeded. Its counts then count twice, which is better than not at all.
      for (const count of counts) addCount(state, count)
      return
    }
    if (state.degraded) log.info('attempts_go_on')
    state.degraded = false
  }
}

/** Removes the next counts from those that wait. */
function takeCounts({ waiting }: CounterState): Count[] {
  const entries = [...waiting.entries()].slice(0, PER_WRITE)
  for (const [key] of entries) waiting.delete(key)
  return entries.map(([, count]) => count)
}

async function store(db: Database, counts: Count[]): Promise<void> {
  // One order everywhere: otherwise two processes could each wait for a row that the other holds.
  const sorted = counts.toSorted(
    (a, b) =>
      a.formId - b.formId ||
      compare(a.day, b.day) ||
      compare(a.outcome, b.outcome) ||
      compare(a.field, b.field),
  )
  await db.write(async (connection) => {
    for (const { formId, day, outcome, field, attempts } of sorted) {
      await connection
        .insertInto('form_attempts')
        .columns(['form_id', 'day', 'outcome', 'field', 'attempts'])
        // Selected from the form: a form that was deleted meanwhile gets no row.
        .expression((e) =>
          e
            .selectFrom('forms')
            .select([
              'id',
              sql<string>`cast(${day} as text)`.as('day'),
              sql<string>`cast(${outcome} as text)`.as('outcome'),
              sql<string>`cast(${field} as text)`.as('field'),
              sql<number>`cast(${attempts} as bigint)`.as('attempts'),
            ])
            .where('id', '=', formId),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['form_id', 'day', 'outcome', 'field'])
            .doUpdateSet({ attempts: sql`form_attempts.attempts + excluded.attempts` }),
        )
        .execute()
    }
  })
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
