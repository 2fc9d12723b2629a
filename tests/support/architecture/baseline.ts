// What broke a rule on the day when the rule began. The lists only get shorter: an entry that nothing needs any more
// is a violation, a listed function may not get longer, and new code has no entry here.

import type { RuleException, RuleName } from './rule.ts'

/** Functions of more than 70 lines, inner functions included, with the length that they had. */
const LONG_FUNCTIONS: [file: string, name: string, lines: number][] = []

/** Files that import themselves by way of others. */
const CIRCLES: string[] = []

/** Rooms that use the room named beside them, while that room uses theirs. */
const ROOMS: [room: string, used: string][] = []

/** Names that two files of a tree export. */
const DOUBLE_EXPORTS: [name: string, ...files: string[]][] = []

/** Files that do not open with a sentence. */
const OPENINGS: string[] = []

const WHY = 'older than the rule'

const toException = (rule: RuleName, file: string, what?: string, lines?: number): RuleException => {
  return { rule, file, what, lines, why: WHY }
}

export const BASELINE: RuleException[] = [
  ...LONG_FUNCTIONS.map(([file, name, lines]) => toException('length', file, name, lines)),
  ...CIRCLES.map((file) => toException('circles', file)),
  ...ROOMS.map(([room, used]) => toException('rooms', room, used)),
  ...DOUBLE_EXPORTS.flatMap(([name, ...files]) => files.map((file) => toException('exports', file, name))),
  ...OPENINGS.map((file) => toException('openings', file)),
]
