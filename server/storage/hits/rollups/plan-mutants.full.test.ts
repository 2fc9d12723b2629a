// The planner without any one of its rules gives a wrong answer soon: so the test of the plans knows each rule.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importMutant, type MutantRule, toMutants } from '../../../../tests/support/rollups/mutate-source.ts'
import type { Planner } from '../../../../tests/support/rollups/plan-model.ts'
import {
  createPlannedQuestions,
  findWrongAnswer,
} from '../../../../tests/support/rollups/planned-questions.ts'

const FILES = ['choose-roll-ups.ts', 'plan-days.ts']
const copies = mkdtempSync(join(tmpdir(), 'mutants-'))
afterAll(() => rmSync(copies, { recursive: true, force: true }))

/** The number of questions that `plan-model.test.ts` asks. */
const QUESTIONS = 8_000
const questions = createPlannedQuestions(12, QUESTIONS)

/** The rules of the choice of roll-ups. */
const CHOICES: MutantRule[] = [
  ['other classes', " || classes.some((each) => each !== 'human')", ''],
  ['no class', 'classes.length === 0 || ', ''],
  ['several outcomes', 'outcomes.length !== 1', 'outcomes.length === 0'],
  ['other outcomes', "if (outcomes[0] !== 'redirect') return undefined", ''],
  [
    'landings in lists',
    'return isSum && filters.length === 0 && imported',
    'return filters.length === 0 && imported',
  ],
  ['landings with filters', 'return isSum && filters.length === 0 && imported', 'return isSum && imported'],
  ['imported landings', 'filters.length === 0 && imported === undefined', 'filters.length === 0'],
  ['imports of no account', 'if (imported !== undefined)', 'if (imported === false)'],
  ['hits that are not imported', 'return imported && isSum', 'return isSum'],
  ['imports in lists', 'return imported && isSum', 'return imported'],
  ['imports with filters', 'imported && isSum && filters.length === 0 ?', 'imported && isSum ?'],
  ['filters of sums', 'if (isSum && filters.length === 0) return', 'if (isSum) return'],
  ['filters in lists of another column', '  if (!isSum) columns.add(', '  new Set<HitColumn>().add('],
  [
    'filters of two kinds of columns',
    '[...columns].every(isPeopleColumn)',
    '[...columns].some(isPeopleColumn)',
  ],
  ['filters of two columns of clicks', 'columns.size === 1 && column', 'column'],
  [
    'null without its name',
    'return values.some(isName) === values.includes(null)',
    'return !values.some(isName) || values.includes(null)',
  ],
  [
    'the name without null',
    'return values.some(isName) === values.includes(null)',
    'return values.some(isName) || !values.includes(null)',
  ],
  ['the case of the name', 'ignoresCase ? ', 'false ? '],
  [
    'links that are null',
    "if (column === 'linkId') return !values.some((value) => value === null)",
    "if (column === 'linkId') return true",
  ],
  ['another name of null', ' || !hasUsualNullName(query)', ''],
  ['mixed people', "{ set: 'people', needsUnmixed: true }", "{ set: 'people', needsUnmixed: false }"],
  ['mixed values', 'needsUnmixed: isSum && !isOneValue(filters)', 'needsUnmixed: false'],
  ['all values but one', ' || filter.negate) return false', ') return false'],
  ['several values', '.size <= 1', '.size <= 2'],
]

/** The rules of days and months. */
const DAYS: MutantRule[] = [
  ['days that are not rolled up', "if (!days.has(day)) return { from: 'hits', why: 'not_rolled_up' }", ''],
  ['mixed days', "if (needsUnmixed && mixed.has(day)) return { from: 'hits', why: 'mixed' }", ''],
  ['the start within a day', 'const isWhole = from === midnight && to', 'const isWhole = to'],
  ['the end within a day', 'from === midnight && to === midnight + DAY_MS', 'from === midnight'],
  ['buckets within a day', 'if (isWhole && inside.length === 0)', 'if (isWhole)'],
  ['cuts of other sums', "if (set !== 'times') return { from: 'hits', why }", ''],
  ['two cuts', 'cuts.length !== 1 || ', ''],
  ['the first of two cuts', '[...(cuts.get(day) ?? []), at]', '[at]'],
  ['the range as a cut', 'const cuts = [from, ...inside, to]', 'const cuts = [...inside]'],
  ['cuts within a quarter hour', ' || cut % SLOT_MS !== 0', ''],
  ['the place of the cut', 'slot: (cut - midnight) / SLOT_MS', 'slot: (cut - midnight) / SLOT_MS + 1'],
  ['sums without months', 'SETS_WITHOUT_MONTHS.has(set) || ', ''],
  ['months that are not rolled up', ' || !months.has(day)) return false', ') return false'],
  ['a start within the month', 'if (day * DAY_MS < start || next', 'if (next'],
  ['an end within the month', ' || next * DAY_MS > end) return false', ') return false'],
  ['an end within the last day of the month', 'next * DAY_MS > end', '(next - 1) * DAY_MS >= end'],
  ['buckets within the month', 'at > day * DAY_MS && at < next * DAY_MS', 'at < 0'],
  [
    'buckets on the first day of the month',
    'at > day * DAY_MS && at < next',
    'at >= (day + 1) * DAY_MS && at < next',
  ],
  ['buckets on the last day of the month', '&& at < next * DAY_MS)', '&& at < (next - 1) * DAY_MS)'],
  [
    'holes in the month',
    'if (!days.has(each) || (needsUnmixed && mixed.has(each))) return false',
    'if (needsUnmixed && mixed.has(each)) return false',
  ],
  [
    'mixed days of the month',
    'if (!days.has(each) || (needsUnmixed && mixed.has(each))) return false',
    'if (!days.has(each)) return false',
  ],
  ['the range before roll-ups', 'addOpen(start, first * DAY_MS)', ''],
  ['the range after roll-ups', 'addOpen(after * DAY_MS, end)', ''],
  [
    'hits of days that had none a moment ago',
    '      addRaw(plan, part)\n',
    "      if (part.why === 'no_hits') plan.origin.push(part)\n      else addRaw(plan, part)\n",
  ],
  ['hits between the first ones and the roll-ups', "toPart('hits', from, to, 'not_rolled_up'),", ''],
  ['where the first day begins', 'Math.max(start, day * DAY_MS)', 'day * DAY_MS'],
  ['where the last day ends', 'Math.min(end, (day + 1) * DAY_MS)', '(day + 1) * DAY_MS'],
]

const MUTANTS = [...toMutants('choose-roll-ups.ts', CHOICES), ...toMutants('plan-days.ts', DAYS)]

test.each(MUTANTS)('a planner that ignores $name is caught', async (mutant) => {
  const into = join(copies, mutant.name.replaceAll(' ', '-'))
  const planner = await importMutant(import.meta.dir, FILES, mutant, into)
  const wrong = findWrongAnswer(questions, planner as unknown as Planner)
  expect(wrong?.asked).toBeLessThan(QUESTIONS)
})
