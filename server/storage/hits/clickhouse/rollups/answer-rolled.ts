// Answers a question from roll-ups and, where there are none, from hits. In doubt it reads hits alone.

import { log } from '../../../../lib/log.ts'
import type { ExplainedAnswer, HitQuery } from '../../hit-engine.ts'
import type { OriginPart, RawReason } from '../../rollups/answer-origin.ts'
import { chooseRollUps } from '../../rollups/choose-roll-ups.ts'
import { planDays } from '../../rollups/plan-days.ts'
import { toRolledSql } from '../../rollups/rolled-sql.ts'
import { isBehind, readReplication } from '../caught-up.ts'
import { CLICKHOUSE_CODES, ClickHouseError } from '../clickhouse-error.ts'
import type { ClickHouseClient } from '../client.ts'
import { clickHouseDialect } from '../dialect.ts'
import { isUnreadable } from './find-unreadable.ts'
import { RULES } from './roll-rules.ts'
import { readRollState, readValidRolls, toDaySpan, type ValidRolls } from './roll-state.ts'
import { BOOKKEEPING_TABLES, SUM_TABLES } from './roll-tables.ts'

const STATE_TABLES = [...BOOKKEEPING_TABLES, 'hit_marks']

/** @returns the answer, or why (with the days, where it knows them) the question is for hits alone @throws `ClickHouseError` */
type RolledReader = (query: HitQuery) => Promise<ExplainedAnswer | OriginPart[] | RawReason>

/** @param settings limits of each statement */
export function createRolledReader(
  client: Pick<ClickHouseClient, 'atOneServer'>,
  settings: Record<string, string | number>,
): RolledReader {
  return async (query) => {
    const choice = chooseRollUps(query)
    if (!choice) return 'question'
    if (query.end <= query.start) return 'not_rolled_up'
    return client.atOneServer(async (server) => {
      const { select } = server
      const readRolls = () => readValidRolls(select, RULES, toDaySpan(query), { settings })
      const [replication, valid] = await Promise.all([readReplication(server), readRolls()])
      if (replication === 'shared') return 'not_rolled_up'
      const lacks = async (tables: readonly string[]) =>
        replication === 'replicated' && (await isBehind(server, tables))
      // Rows can come later than their mark.
      if (await lacks(SUM_TABLES)) return 'unavailable'
      const state = await readRollState(select, query, choice, valid, { settings })
      const plan = planDays(query, choice, state)
      if (Array.isArray(plan)) return plan
      const { text, params, read } = toRolledSql(query, plan, state, clickHouseDialect)
      const answers = read(await select(text, { params, settings }))
      // Their rows may be gone: they go after a roll-up has stopped to count. Another replica may have stored a change.
      const isExact = !(await lacks(STATE_TABLES)) && doRollsCount(state.rolls ?? [], await readRolls())
      return isExact ? { answers, origin: plan.origin } : 'unavailable'
    }, true)
  }
}

function doRollsCount(rolls: readonly number[], { days, months }: ValidRolls): boolean {
  const counting = new Set([...days.values(), ...months.values()])
  return rolls.every((roll) => counting.has(roll))
}

/** How long unreadable roll-ups are left alone: they are being repaired. */
const RETRY_MS = 10_000

/** Repeat a lasting warning at this interval. */
const LOG_EVERY_MS = 60_000

/**
 * Errors that a question of the hits alone would meet too. Any other error comes from the longer statement, so hits are
 * asked.
 */
const COMMON_CODES: ReadonlySet<number | undefined> = new Set<number | undefined>([
  undefined,
  0,
  CLICKHOUSE_CODES.timeout,
  CLICKHOUSE_CODES.quota,
  CLICKHOUSE_CODES.tooManyQueries,
  CLICKHOUSE_CODES.canceled,
])

/**
 * Leaves to the hits what roll-ups cannot answer: their tables are damaged or missing, a replica is behind, or a limit of
 * ClickHouse refuses the statement.
 */
export function createRolledExplainer(read: RolledReader, onTrouble: () => void): RolledReader {
  let troubledAt = Number.NEGATIVE_INFINITY
  let loggedAt = Number.NEGATIVE_INFINITY
  return async (query) => {
    if (performance.now() - troubledAt < RETRY_MS) return 'unavailable'
    try {
      return await read(query)
    } catch (error) {
      if (!(error instanceof ClickHouseError) || COMMON_CODES.has(error.code)) throw error
      if (error.code === CLICKHOUSE_CODES.memoryLimit) return 'memory'
      if (performance.now() - loggedAt >= LOG_EVERY_MS) {
        loggedAt = performance.now()
        log.warn('hits.roll_ups_unreadable', { code: error.code, error: error.message })
      }
      if (isUnreadable(error)) {
        troubledAt = performance.now()
        onTrouble()
      }
      return 'unavailable'
    }
  }
}
