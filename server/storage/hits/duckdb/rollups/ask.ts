// Answers a question from roll-ups where they are exact, and from hits where they are not. Marks, sums and hits are read in
// one transaction, so that they are of one moment.

import type { DuckDBConnection } from '@duckdb/node-api'
import { describeError, log } from '../../../../lib/log.ts'
import type { SqlValue } from '../../../filter-sql.ts'
import type { ExplainedAnswer, HitAnswer, HitQuery } from '../../hit-engine.ts'
import type { OriginPart, RawReason } from '../../rollups/answer-origin.ts'
import { chooseRollUps, type RollUpChoice } from '../../rollups/choose-roll-ups.ts'
import { toHeadSql } from '../../rollups/head-sql.ts'
import { type DaySpan, planDays } from '../../rollups/plan-days.ts'
import { toRolledSql } from '../../rollups/rolled-sql.ts'
import type { ReadConnections } from '../connections.ts'
import { isDamage } from '../damage-watch.ts'
import { duckDbDialect } from '../dialect.ts'
import { readRollUpState } from './marks.ts'

interface QuestionNeeds {
  readers: Pick<ReadConnections, 'use'>
  /** Counts hits alone. */
  askHits(query: HitQuery): Promise<HitAnswer[]>
  run(
    connection: DuckDBConnection,
    text: string,
    params: SqlValue[],
  ): Promise<readonly (readonly unknown[])[]>
  /** How often the roll-ups were dropped. */
  countDrops(): number
  /** Called when the roll-ups cannot be read, and the hits can. @param seen `countDrops()` before they were read */
  onDamage(seen: number): void
  isOutOfMemory(error: unknown): boolean
  /** See `RollUpState`. */
  hitDays(connection: DuckDBConnection): Promise<DaySpan>
}

/** Roll-ups that could not be read are left alone for so long: they are being dropped. */
const RETRY_MS = 10_000

export type QuestionExplainer = (query: HitQuery) => Promise<ExplainedAnswer>

export function createExplainer(needs: QuestionNeeds): QuestionExplainer {
  const answerFromHits = async (query: HitQuery, why: RawReason) => {
    const origin: OriginPart[] =
      query.start < query.end ? [{ start: query.start, end: query.end, from: 'hits', why }] : []
    return { answers: await needs.askHits(query), origin }
  }
  let damagedAt = Number.NEGATIVE_INFINITY
  return async (query) => {
    const choice = chooseRollUps(query)
    if (!choice) return answerFromHits(query, 'question')
    if (performance.now() - damagedAt < RETRY_MS) return answerFromHits(query, 'not_rolled_up')
    let answer: ExplainedAnswer | RawReason
    const drops = needs.countDrops()
    try {
      answer = await needs.readers.use(query.workspaceId, (connection) =>
        readSnapshot(connection, () => askRollUps(needs, connection, query, choice)),
      )
    } catch (error) {
      if (needs.isOutOfMemory(error)) return answerFromHits(query, 'memory')
      if (!isDamage(error)) throw error
      const answered = await answerFromHits(query, 'not_rolled_up')
      log.error('hits.roll_ups_damaged', describeError(error))
      damagedAt = performance.now()
      needs.onDamage(drops)
      return answered
    }
    return typeof answer === 'string' ? answerFromHits(query, answer) : answer
  }
}

async function askRollUps(
  { run, hitDays }: QuestionNeeds,
  connection: DuckDBConnection,
  query: HitQuery,
  choice: RollUpChoice,
): Promise<ExplainedAnswer | RawReason> {
  const known = { hitDays: await hitDays(connection) }
  const state = { ...known, ...(await readRollUpState(connection, query, choice)) }
  const plan = planDays(query, choice, state)
  if (typeof plan === 'string') return plan
  const head = toHeadSql(query, plan, state, duckDbDialect)
  const keys = head?.read(await run(connection, head.text, head.params))
  const { text, params, read } = toRolledSql(query, plan, state, duckDbDialect, keys)
  return { answers: read(await run(connection, text, params)), origin: plan.origin }
}

async function readSnapshot<T>(connection: DuckDBConnection, read: () => Promise<T>): Promise<T> {
  await connection.run('BEGIN TRANSACTION')
  try {
    return await read()
  } finally {
    // Nothing was written, and a failed transaction ends in the same way. A dead engine has none.
    await connection.run('ROLLBACK').catch((error) => log.warn('hits.rollback_failed', describeError(error)))
  }
}
