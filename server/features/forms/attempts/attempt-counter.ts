// How attempts to send a form ended, as counts by day: nothing of what was sent, nor of who sent it. Counted in memory
// and written each second, so that no sender waits for it; a killed process loses the last second.

import { sql } from 'kysely'
import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { toUtcDay } from '../../../lib/utc-day.ts'
import { toFailure } from '../../../storage/database/errors.ts'
import type { Database } from '../../../storage/database/open-database.ts'

/** In the order of the checks that they are the end of. */
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
   * One attempt; or, with a field, one that was wrong in this field, which is an attempt only when it is counted
   * without it as well. It never throws and never waits.
   * @param field must be a name of the owner's making, since it is kept
   */
  count(formId: number, outcome: AttemptOutcome, field?: string): void
  /** Writes what was counted until now. What cannot be written is kept for the next time. */
  flush(): Promise<void>
  /** Writes the last counts, and counts no more. */
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

const FLUSH_EVERY_MS = 1_000
/** While the store is away, more than so many kinds are not worth their memory: 2 MB. */
const WAITING_MAX = 10_000
/** A write of SQLite holds up the redirects: these for 5 ms. */
const PER_WRITE = 100

export function openAttemptCounter({
  db,
  now,
  everyMs = FLUSH_EVERY_MS,
}: AttemptCounterNeeds): AttemptCounter {
  const waiting = new Map<string, Count>()
  let timer: Timer | undefined
  let flushing: Promise<void> | undefined
  let closed = false
  let degraded = false

  function add(one: Count) {
    const key = `${one.formId} ${one.day} ${one.outcome} ${one.field}`
    const known = waiting.get(key)
    if (known) known.attempts += one.attempts
    else if (waiting.size < WAITING_MAX) waiting.set(key, one)
  }

  function plan() {
    if (timer === undefined && !closed) timer = setTimeout(flush, everyMs)
  }

  function flush(): Promise<void> {
    flushing ??= writeAll().finally(() => {
      flushing = undefined
      if (waiting.size > 0) plan()
    })
    return flushing
  }

  async function writeAll() {
    clearTimeout(timer)
    timer = undefined
    while (waiting.size > 0) {
      const counts = [...waiting.entries()].slice(0, PER_WRITE)
      for (const [key] of counts) waiting.delete(key)
      const some = counts.map(([, count]) => count)
      try {
        await store(db, some)
      } catch (error) {
        const failure = toFailure(error)
        if (!(failure instanceof Failure && failure.code === 'unavailable')) {
          // Another try would come to the same, and the counts after these would never be written.
          log.error('attempts_lost', { kinds: some.length, ...describeError(error) })
          continue
        }
        if (!degraded) log.warn('attempts_wait', describeError(error))
        degraded = true
        // Where a commit got no answer they may be there already, and count twice: rather that than not at all.
        for (const one of some) add(one)
        return
      }
      if (degraded) log.info('attempts_go_on')
      degraded = false
    }
  }

  return {
    count(formId, outcome, field = '') {
      if (closed) return
      add({ formId, day: toUtcDay(now()), outcome, field, attempts: 1 })
      plan()
    },
    flush,
    async close() {
      closed = true
      // One may be under way that began before the last counts.
      await flushing
      await flush()
      clearTimeout(timer)
    },
  }
}

async function store(db: Database, counts: Count[]): Promise<void> {
  // Always in the same order, or two processes would wait for each other's rows.
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
        // From the form itself: one that was deleted meanwhile counts nothing.
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
