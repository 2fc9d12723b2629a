// Runs questions in ClickHouse with limits, because many nodes and other programs can share one server.

import { createFairQueue } from '../../../lib/concurrency/fair-queue.ts'
import { unavailable } from '../../../lib/failure.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Statement } from '../../filter-sql.ts'
import { type ClickReader, createClickReader } from '../click-reader.ts'
import type { HitEngine } from '../hit-engine.ts'
import { toHitSql } from '../hit-sql.ts'
import { type DaySpan, toHitsOrigin } from '../rollups/plan-days.ts'
import { createShareCounter } from '../visitor-shares.ts'
import { requireCaughtUp } from './caught-up.ts'
import { CLICKHOUSE_CODES, ClickHouseError } from './clickhouse-error.ts'
import type { ClickHouseClient } from './client.ts'
import { clickHouseDialect } from './dialect.ts'

const QUESTIONS_OF_WORKSPACE = 4
/** The running questions of a node. A server runs a hundred statements at once, or a thousand. */
const QUESTIONS = 16

/** Makes the server end a reading statement when its client disconnects. */
const READ_ONLY = { readonly: 2, cancel_http_readonly_queries_on_client_close: 1 }
export const QUESTION_SETTINGS = {
  ...READ_ONLY,
  max_threads: 4,
  max_execution_time: 30,
  max_memory_usage: 2_000_000_000,
}

/** Errors that every question would get. */
const UNAVAILABLE_CODES: ReadonlySet<number | undefined> = new Set<number>([
  CLICKHOUSE_CODES.unknownTable,
  CLICKHOUSE_CODES.unknownDatabase,
  CLICKHOUSE_CODES.unknownUser,
  CLICKHOUSE_CODES.wrongPassword,
  CLICKHOUSE_CODES.requiredPassword,
  CLICKHOUSE_CODES.tooManyQueries,
  CLICKHOUSE_CODES.accessDenied,
  CLICKHOUSE_CODES.authenticationFailed,
])

/** An unavailable server is a 503. A question that exceeds a limit fails alone, with its own error. */
export const toQuestionFailure = (error: unknown): unknown =>
  error instanceof ClickHouseError && (error.isAway || UNAVAILABLE_CODES.has(error.code))
    ? unavailable(error)
    : error

/** @param settings limits of each question */
export function createQuestionRunner(
  client: Pick<ClickHouseClient, 'select'>,
  settings: Record<string, number> = QUESTION_SETTINGS,
): ClickReader & Pick<HitEngine, 'ask' | 'explain'> {
  const turns = createFairQueue<number>(QUESTIONS, QUESTIONS_OF_WORKSPACE)
  const run = <Answer>(workspaceId: number, { text, params, read }: Statement<Answer>): Promise<Answer> =>
    turns.run(workspaceId, () =>
      client.select(text, { params, settings }).then(read, (error) => {
        throw toQuestionFailure(error)
      }),
    )
  const ask = createShareCounter({
    ask: (query, share) => run(query.workspaceId, toHitSql(query, clickHouseDialect, share)),
    isOutOfMemory: (error) => error instanceof ClickHouseError && error.code === CLICKHOUSE_CODES.memoryLimit,
    largeQuestions: createFairQueue(1),
  })
  const clicks = createClickReader(clickHouseDialect, run)
  return {
    ...clicks,
    ask,
    async explain(query) {
      // An answer must not fail because of its explanation. If the server fails, the question itself reports it.
      const hitDays = run(query.workspaceId, HIT_DAYS).catch(() => undefined)
      const [answers, days] = await Promise.all([ask(query), hitDays])
      return { answers, origin: toHitsOrigin(query, 'engine', days) }
    },
    async readClicks(query) {
      await waitUntilCaughtUp(client)
      return clicks.readClicks(query)
    },
  }
}

const CAUGHT_UP_TRIES = 10
const CAUGHT_UP_PAUSE_MS = 100

/**
 * A replica can fetch a later batch before an earlier one. A page that is read between the two would miss the earlier one
 * permanently. @throws `unavailable`
 */
async function waitUntilCaughtUp(client: Pick<ClickHouseClient, 'select'>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await requireCaughtUp(client)
    } catch (error) {
      const failure = toQuestionFailure(error)
      if (failure !== error) throw failure
      if (tries === CAUGHT_UP_TRIES) throw unavailable(error, 1)
      await Bun.sleep(CAUGHT_UP_PAUSE_MS)
    }
  }
}

/** The partitions have the first and the last day, so no hits are read. */
const HIT_DAYS: Statement<DaySpan> = {
  text: `SELECT intDiv(min(recorded_at), ${DAY_MS}), intDiv(max(recorded_at), ${DAY_MS}) FROM hits HAVING count() > 0`,
  params: [],
  read: ([row]) => (row ? { start: Number(row[0]), end: Number(row[1]) + 1 } : { start: 0, end: 0 }),
}
