// Questions with the answers of a recount, and a planner that is asked all of them until one answer is wrong.

import { createRandom } from '../../../server/lib/seeded-random.ts'
import type { HitAnswer, HitQuery } from '../../../server/storage/hits/hit-engine.ts'
import type { OriginKind } from '../../../server/storage/hits/rollups/answer-origin.ts'
import { createHitWorld } from './hit-world.ts'
import {
  countOrigins,
  createPlanModel,
  findOriginProblem,
  type PlanModel,
  type Planner,
} from './plan-model.ts'
import { recountHits } from './recount-hits.ts'
import { createQuestion } from './world-questions.ts'

export interface PlannedQuestion {
  about: { seed: number; n: number; zone: string }
  model: PlanModel
  query: HitQuery
  expected: HitAnswer[]
}

/** @returns the questions of some worlds, in turns */
export function createPlannedQuestions(worlds: number, questions: number, firstSeed = 0): PlannedQuestion[] {
  const busy = 5
  const asked = Array.from({ length: worlds }, (_, n) => {
    const world = createHitWorld(firstSeed + n, busy)
    return { world, model: createPlanModel(world), random: createRandom(firstSeed + n + 70) }
  })
  return Array.from({ length: questions }, (_, n) => {
    const { world, model, random } = asked[n % worlds] as (typeof asked)[number]
    const { zone, query } = createQuestion(world, random)
    return { about: { seed: world.seed, n, zone }, model, query, expected: recountHits(world.hits, query) }
  })
}

/**
 * @returns the first wrong answer, and how many questions it took; undefined when all answers are right
 * @param counts where the right answers came from
 */
export function findWrongAnswer(
  questions: readonly PlannedQuestion[],
  planner: Planner,
  counts?: Record<OriginKind, number>,
): { asked: number; wrong: string } | undefined {
  for (const [index, question] of questions.entries()) {
    const found = findProblem(question, planner, counts)
    if (found)
      return {
        asked: index + 1,
        wrong: JSON.stringify({ ...question.about, query: question.query, ...found }),
      }
  }
  return undefined
}

function findProblem(
  { model, query, expected }: PlannedQuestion,
  planner: Planner,
  counts?: Record<OriginKind, number>,
): object | undefined {
  try {
    const planned = model.answer(query, planner)
    if (!planned) return undefined
    const { answers, origin } = planned
    const problem = Bun.deepEquals(answers, expected) ? findOriginProblem(origin, query) : 'the answers'
    if (problem) return { problem, answers, expected, origin }
    if (counts) countOrigins(counts, origin)
    return undefined
  } catch (error) {
    return { problem: String(error) }
  }
}
