// Counts by day how attempts to send a form end. It stores neither content nor senders. Counts wait in memory and are
// written each second, so the sender does not wait for a write. A killed process loses the last second.

import { sql } from 'kysely'
import type { Metric } from '../../../http/health-and-metrics.ts'
import { DAY_MS, toUtcDay } from '../../../lib/utc-day.ts'
import { openCountBuffer } from '../../../storage/database/count-buffer.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'

/** In the order of the checks that end an attempt (docs/contract.md §7). */
export const ATTEMPT_OUTCOMES = [
  'stored',
  'spam',
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
  /** Attempts of all forms since the start. */
  metrics(): Metric[]
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

const FLUSH_EVERY_MS = 1_000
/** While the database is unavailable, memory holds at most this many different counts: 2 MB. */
const WAITING_MAX = 10_000

export function openAttemptCounter({
  db,
  now,
  everyMs = FLUSH_EVERY_MS,
}: AttemptCounterNeeds): AttemptCounter {
  const counts = openCountBuffer<Count>({
    name: 'attempts',
    everyMs,
    waitingMax: WAITING_MAX,
    toKey: ({ formId, day, outcome, field }) => `${formId} ${day} ${outcome} ${field}`,
    merge(into, { attempts }) {
      into.attempts += attempts
    },
    store: (waiting) => store(db, waiting),
  })
  const totals = new Map(ATTEMPT_OUTCOMES.map((outcome) => [outcome, 0]))
  return {
    count(formId, outcome, field = '') {
      if (field === '') totals.set(outcome, (totals.get(outcome) ?? 0) + 1)
      counts.add({ formId, day: toUtcDay(now()), outcome, field, attempts: 1 })
    },
    metrics: () =>
      [...totals].map(([outcome, value]) => ({
        name: 'towpath_form_attempts_total',
        kind: 'counter',
        help: 'Attempts to send a form, by how they ended',
        labels: { outcome },
        value,
      })),
    flush: counts.flush,
    close: counts.close,
  }
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
    for (const count of sorted) await addAttempts(connection, { ...count })
  })
}

const addAttempts = prepareQuery(upsertAttempts)
function upsertAttempts(
  connection: Connection,
  { formId, day, outcome, field, attempts }: Count & Record<string, unknown>,
) {
  return (
    connection
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
  )
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** A year can be compared with the one before. */
export const ATTEMPT_DAYS_KEPT = 400

/** Deletes older counts. */
export async function pruneFormAttempts(db: Database, now: number): Promise<void> {
  await pruneInSlices(db, 'form_attempts', sql`day < ${toUtcDay(now - ATTEMPT_DAYS_KEPT * DAY_MS)}`)
}
