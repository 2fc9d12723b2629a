// Patterns of fields, in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax): the time to match is linear in the
// length of the text. Both factors are bounded here, because everybody can send texts, and a match holds the event loop.

import { RE2JS, RE2JSException } from 're2js'
import { createGenerations } from '../../../lib/generations.ts'

export interface FieldPattern {
  /** About how many steps a match of the text takes at most: the size of the program times the length of the text. */
  toWork(text: string): number
  /** About how much memory it takes. */
  bytes: number
  /** The whole text must match. */
  matches(text: string): boolean
}

/** The most instructions of a pattern's program. `.{1,190}` has 381. */
export const PROGRAM_MAX = 400
/** Unicode classes cost milliseconds to compile. */
const CLASSES_MAX = 25
export const CLASSES_OF_FORM_MAX = 500
/** Compiling a program takes longer the larger it is, also one that is refused. */
const ESTIMATE_MAX = 10_000
/** Without regard to case, compiling looks at each character of a range: 25 ns each. */
const FOLDED_MAX = 400_000
/** Matches build tables. Above this size they are built again. */
const TABLES_MAX_BYTES = 32 * 1024
/** Estimated memory of a program. */
const BYTES_OF_STEP = 200
const BYTES_OF_CLASS = 6_000

/** @throws Error with the mistake, as the rest of a sentence */
export function compilePattern(source: string): FieldPattern {
  const classes = countClasses(source)
  if (classes > CLASSES_MAX)
    throw new Error(`is too large: it may have at most ${CLASSES_MAX} classes of characters`)
  if (countFolded(source) > FOLDED_MAX)
    throw new Error(`is too large: with (?i), its ranges may have at most ${FOLDED_MAX} characters together`)
  if (estimateSteps(source) > ESTIMATE_MAX) throw tooManySteps(`more than ${ESTIMATE_MAX}`)
  const program = compile(source)
  const size = program.programSize()
  if (size > PROGRAM_MAX) throw tooManySteps(String(size))
  return {
    toWork: (text) => size * text.length,
    bytes: size * BYTES_OF_STEP + classes * BYTES_OF_CLASS + TABLES_MAX_BYTES,
    matches(text) {
      const isMatch = program.testExact(text)
      const tables = program.re2Input.lazyDFA as typeof program.re2Input.lazyDFA | null
      if (tables && tables.maxMem - tables.memBudget > TABLES_MAX_BYTES) tables.clearCache()
      return isMatch
    },
  }
}

const tooManySteps = (steps: string) =>
  new Error(
    `is too large: it has ${steps} steps, and ${PROGRAM_MAX} are the most. {n,m} repeats all steps before it`,
  )

/** The number of character classes in a pattern, in brackets or by name. */
export const countClasses = (source: string): number => source.match(/\[|\\p/gi)?.length ?? 0

/** The characters of all ranges, where the pattern says that case does not count. */
function countFolded(source: string): number {
  if (!/\(\?\w*i/.test(source)) return 0
  const toFolding = (character: string) => Math.min(Math.max(toCode(character), FOLDING_MIN), FOLDING_END)
  const ranges = source.matchAll(
    /(?=(\\x\{[\da-f]+\}|\\x[\da-f]{2}|\\?.)-(\\x\{[\da-f]+\}|\\x[\da-f]{2}|\\?.))./giu,
  )
  return ranges.reduce((sum, [, from = '', to = '']) => sum + Math.max(0, toFolding(to) - toFolding(from)), 0)
}

/** Characters outside have no case. */
const FOLDING_MIN = 0x41
const FOLDING_END = 0x1e943

function toCode(character: string): number {
  const hex = /^\\x\{?([\da-f]+)/i.exec(character)?.[1]
  return hex === undefined ? (Array.from(character).at(-1)?.codePointAt(0) ?? 0) : Number.parseInt(hex, 16)
}

const TOKEN =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]])*\]?|\{(\d+)(?:,(\d*))?\}|[\s\S]/g

/** The content of a repetition: its steps, and how often a part of it is repeated already. */
interface PatternPart {
  steps: number
  times: number
}

/**
 * About how many steps the program has: repetitions in each other are multiplied.
 * @throws Error as the compiler does where they repeat too often
 */
function estimateSteps(source: string): number {
  const outer: PatternPart[] = []
  let group: PatternPart = { steps: 0, times: 1 }
  let last = group
  for (const [token, least, most] of source.matchAll(TOKEN)) {
    if (token === '(') {
      outer.push(group)
      group = { steps: 0, times: 1 }
      continue
    }
    if (token === ')') {
      last = { ...group, steps: group.steps + 2 }
      group = outer.pop() ?? { steps: 0, times: 1 }
    } else if (least === undefined) {
      last = { steps: token.startsWith('\\Q') ? token.length : 1, times: 1 }
    } else {
      group.steps -= last.steps
      const times = last.times * Number(most || least)
      if (times > REPEATED_MAX) throw new Error(repeatsTooOften(`\`${token}\``))
      last = { steps: last.steps * Math.max(Number(least) + 1, Number(most || 0)), times }
    }
    group.steps += last.steps
    group.times = Math.max(group.times, last.times)
  }
  return outer.reduce((sum, { steps }) => sum + steps, group.steps)
}

const REPEATED_MAX = 1000
const repeatsTooOften = (repetition: string) =>
  `repeats too often: ${repetition}. The maximum is ${REPEATED_MAX}, also for nested repetitions`

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw new Error(explain(source, error.message))
  }
}

const UNSUPPORTED = 'which RE2 does not support, because it keeps the matching time bounded'

function explain(source: string, message: string): string {
  const lookAround = /\(\?<?[=!]/.exec(source)?.[0]
  if (lookAround) return `has a look-around ${lookAround}…), ${UNSUPPORTED}`
  const reference = /\\(?:[1-9]|k[<{'])/.exec(source)?.[0]
  if (reference) return `has a backreference ${reference}, ${UNSUPPORTED}`
  if (message.includes('invalid repeat count')) {
    return repeatsTooOften(message.split(': ').at(-1) ?? '')
  }
  return `is not a valid RE2 pattern: ${message.replace(/^error parsing regexp: /, '')}`
}

/** Room for several forms with the most and largest patterns, and for a dozen with a hundred common ones. */
const CACHED_MAX_BYTES = 64 * 1024 * 1024
const cache = createGenerations<FieldPattern>({
  entriesMax: 2_000,
  bytesMax: CACHED_MAX_BYTES / 2,
  weigh: (source, { bytes }) => bytes + 2 * source.length,
})

/** @returns the compiled pattern of a stored rule; undefined where it does not compile, as after an import */
function findPattern(source: string): FieldPattern | undefined {
  const cached = cache.get(source)
  if (cached) return cached
  try {
    const pattern = compilePattern(source)
    cache.set(source, pattern)
    return pattern
  } catch {
    return undefined
  }
}

/** The work that is left for one submission. */
export interface WorkBudget {
  left: number
}

/** @returns false also when the text is so long that the work is too much */
export function matchesPattern(source: string, text: string, budget: WorkBudget): boolean {
  const pattern = findPattern(source)
  if (!pattern) return true
  const work = pattern.toWork(text)
  if (work > WORK_PER_TEXT || work > budget.left) return false
  budget.left -= work
  return pattern.matches(text)
}

/** Some 20 ms at worst, the first time that a program runs. */
const WORK_PER_TEXT = 400_000
/** For one submission. */
export const WORK_MAX = 2_000_000
