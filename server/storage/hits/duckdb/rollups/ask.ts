// Answers a question from roll-ups if they are exact, else from hits. Marks, sums and hits are read in one transaction, so
// that they fit together.

import type { DuckDBConnection } from '@duckdb/node-api'
import { describeError, log } from '../../../../lib/log.ts'
import type { ExplainedAnswer, HitAnswer, HitQuery } from '../../hit-engine.ts'
import type { OriginPart, RawReason } from '../../rollups/answer-origin.ts'
import { chooseRollUps, type RollUpChoice } from '../../rollups/choose-roll-ups.ts'
import { toHeadSql } from '../../rollups/head-sql.ts'
import { planDays, toHitsOrigin } from '../../rollups/plan-days.ts'
import { toRolledSql } from '../../rollups/rolled-sql.ts'
import type { ReadConnections } from '../connections.ts'
import { isDamage } from '../damage-watch.ts'
import { duckDbDialect } from '../dialect.ts'
import { isOutOfMemory, runStatement } from '../query.ts'
import { rollBack } from '../transaction.ts'
import { readRollUpState } from './marks.ts'
import type { Roller } from './roller.ts'

interface QuestionNeeds {
  readers: Pick<ReadConnections, 'use'>
  /** Answers from hits only. */
  askHits(query: HitQuery): Promise<HitAnswer[]>
  /** The number of times that the roll-ups were dropped. */
  countDrops(): number
  /**
   * Called when the roll-ups cannot be read.
   * @param seen `countDrops()` before they were read
   * @param areHitsRead true if the hits of the question could be read
   */
  onDamage(seen: number, areHitsRead: boolean): void
  /** See `Roller`. */
  hitDays: Roller['hitDays']
}

/** Unreadable roll-ups are not used for this time, because they are being dropped. */
const RETRY_MS = 10_000

export type QuestionExplainer = (query: HitQuery) => Promise<ExplainedAnswer>

export function createExplainer(needs: QuestionNeeds): QuestionExplainer {
  /** @returns undefined if other questions use the memory, because an answer must not fail because of its explanation */
  const findHitDays = ({ workspaceId }: HitQuery) =>
    needs
      .hitDays((find) => needs.readers.use(workspaceId, find))
      .catch((error: unknown) => {
        if (isOutOfMemory(error)) return undefined
        throw error
      })
  const answerFromHits = async (query: HitQuery, why: RawReason) => {
    const [answers, hitDays] = await Promise.all([needs.askHits(query), findHitDays(query)])
    return { answers, origin: toHitsOrigin(query, why, hitDays) }
  }
  let damagedAt = Number.NEGATIVE_INFINITY
  return async (query) => {
    const choice = chooseRollUps(query)
    if (!choice) return answerFromHits(query, 'question')
    if (performance.now() - damagedAt < RETRY_MS) return answerFromHits(query, 'unavailable')
    let answer: ExplainedAnswer | OriginPart[]
    const drops = needs.countDrops()
    try {
      answer = await needs.readers.use(query.workspaceId, (connection) =>
        readSnapshot(connection, () => askRollUps(needs, connection, query, choice)),
      )
    } catch (error) {
      if (isOutOfMemory(error)) return answerFromHits(query, 'memory')
      if (!isDamage(error)) throw error
      // Logged first, because reading the hits can fail too, which would hide the damage.
      log.error('hits.roll_ups_damaged', describeError(error))
      damagedAt = performance.now()
      let areHitsRead = false
      try {
        const answered = await answerFromHits(query, 'unavailable')
        areHitsRead = true
        return answered
      } finally {
        needs.onDamage(drops, areHitsRead)
      }
    }
    return Array.isArray(answer) ? { answers: await needs.askHits(query), origin: answer } : answer
  }
}

async function askRollUps(
  { hitDays }: QuestionNeeds,
  connection: DuckDBConnection,
  query: HitQuery,
  choice: RollUpChoice,
): Promise<ExplainedAnswer | OriginPart[]> {
  const known = { hitDays: await hitDays((find) => find(connection)) }
  const state = { ...known, ...(await readRollUpState(connection, query, choice)) }
  const plan = planDays(query, choice, state)
  if (Array.isArray(plan)) return plan
  const head = toHeadSql(query, plan, state, duckDbDialect)
  const keys = head && (await runStatement(connection, head))
  const answers = await runStatement(connection, toRolledSql(query, plan, state, duckDbDialect, keys))
  return { answers, origin: plan.origin }
}

async function readSnapshot<T>(connection: DuckDBConnection, read: () => Promise<T>): Promise<T> {
  await connection.run('BEGIN TRANSACTION')
  let reason: unknown
  try {
    return await read()
  } catch (error) {
    reason = error
    throw error
  } finally {
    // The transaction has written nothing, so it always ends with a rollback.
    await rollBack(connection, reason)
  }
}
