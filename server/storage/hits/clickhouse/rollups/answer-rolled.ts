// Answers a question from roll-ups and, where there are none, from hits. Whatever is doubtful is left to the hits alone.

import { log } from '../../../../lib/log.ts'
import type { ExplainedAnswer, HitQuery } from '../../hit-engine.ts'
import type { RawReason } from '../../rollups/answer-origin.ts'
import { chooseRollUps } from '../../rollups/choose-roll-ups.ts'
import { planDays } from '../../rollups/plan-days.ts'
import { toRolledSql } from '../../rollups/rolled-sql.ts'
import { isBehind, isReplicated } from '../caught-up.ts'
import { CLICKHOUSE_CODES, ClickHouseError } from '../clickhouse-error.ts'
import type { ClickHouseClient } from '../client.ts'
import { clickHouseDialect } from '../dialect.ts'
import { isUnreadable } from './find-unreadable.ts'
import { RULES } from './roll-rules.ts'
import { readRollState } from './roll-state.ts'
import { BOOKKEEPING_TABLES, SUM_TABLES } from './roll-tables.ts'

/**
 * From the marks to the answer. Later, the rows of a roll-up that counted may be gone. Both clocks are asked: one stands
 * still while a machine sleeps, and the other one can be set.
 */
const ANSWER_WITHIN_MS = 5 * 60_000

const STATE_TABLES = [...BOOKKEEPING_TABLES, 'hit_marks']

/** @returns the answer, or why the question is for hits alone @throws `ClickHouseError` */
type RolledReader = (query: HitQuery) => Promise<ExplainedAnswer | RawReason>

/** @param settings limits of each statement */
export function createRolledReader(
  client: Pick<ClickHouseClient, 'atOneServer'>,
  settings: Record<string, string | number>,
): RolledReader {
  /** Whether the tables are known to be on one server only. */
  let isPlain = false
  return async (query) => {
    const choice = chooseRollUps(query)
    if (!choice) return 'question'
    if (query.end <= query.start) return 'not_rolled_up'
    const started = readClocks()
    return client.atOneServer(async (server) => {
      const { select } = server
      isPlain ||= !(await isReplicated(server))
      // Another replica may have stored a touch, and this one may still count a mark.
      if (!isPlain && (await isBehind(server, STATE_TABLES))) return 'not_rolled_up'
      const state = await readRollState(select, query, choice, RULES, { settings })
      const plan = planDays(query, choice, state)
      if (typeof plan === 'string') return plan
      // Rows can come later than their mark.
      if (!isPlain && (await isBehind(server, SUM_TABLES))) return 'not_rolled_up'
      const { text, params, read } = toRolledSql(query, plan, state, clickHouseDialect)
      const answers = read(await select(text, { params, settings }))
      const now = readClocks()
      if (now.some((at, index) => Math.abs(at - (started[index] ?? 0)) > ANSWER_WITHIN_MS))
        return 'not_rolled_up'
      return { answers, origin: plan.origin }
    }, true)
  }
}

const readClocks = () => [performance.now(), Date.now()]

/** Roll-ups that could not be read are left alone for so long: they are being repaired. */
const RETRY_MS = 10_000

/** What the hits alone would meet too. Whatever else goes wrong is a matter of the longer statement, so hits are asked. */
const COMMON_CODES: ReadonlySet<number | undefined> = new Set<number | undefined>([
  undefined,
  0,
  CLICKHOUSE_CODES.timeout,
  CLICKHOUSE_CODES.quota,
  CLICKHOUSE_CODES.tooManyQueries,
  CLICKHOUSE_CODES.cancelled,
])

/**
 * Leaves to the hits what roll-ups cannot answer: their tables are damaged or missing, a replica is behind, or a limit of
 * ClickHouse refuses the statement.
 */
export function createRolledExplainer(read: RolledReader, onTrouble: () => void): RolledReader {
  let troubledAt = Number.NEGATIVE_INFINITY
  return async (query) => {
    if (performance.now() - troubledAt < RETRY_MS) return 'not_rolled_up'
    try {
      return await read(query)
    } catch (error) {
      if (!(error instanceof ClickHouseError) || COMMON_CODES.has(error.code)) throw error
      if (error.code === CLICKHOUSE_CODES.memoryLimit) return 'memory'
      log.warn('hits.roll_ups_unreadable', { code: error.code, error: error.message })
      if (isUnreadable(error)) {
        troubledAt = performance.now()
        onTrouble()
      }
      return 'not_rolled_up'
    }
  }
}
