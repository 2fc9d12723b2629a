// Plans of random questions, evaluated in memory, give the answers of a recount. Tests of the engines ask the same
// questions, with the SQL of each.

import { expect, test } from 'bun:test'
import {
  createPlannedQuestions,
  findWrongAnswer,
} from '../../../../tests/support/rollups/planned-questions.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { chooseRollUps } from './choose-roll-ups.ts'
import { planDays } from './plan-days.ts'

test('plans of random questions are exact, and use every kind of roll-up', () => {
  const counts = { months: 0, days: 0, quarter_hours: 0, hits: 0 }
  const asked = atScale({ quick: 500, full: 8_000, soak: 200_000 })
  const questions = createPlannedQuestions(atScale({ quick: 2, full: 12, soak: 240 }), asked)
  expect(findWrongAnswer(questions, { chooseRollUps, planDays }, counts)).toBeUndefined()
  for (const [kind, count] of Object.entries(counts))
    expect([kind, count > asked * 0.05]).toEqual([kind, true])
})
