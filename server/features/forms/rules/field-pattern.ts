// Patterns of fields, in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax): the time to match is linear in the
// length of the text. Both factors are bounded here, because everybody can send texts, and a match holds the event loop.

import { RE2JS, RE2JSException } from 're2js'
import { createGenerations } from '../../../lib/generations.ts'

export interface FieldPattern {
  /** About how many steps a match of the text takes at most: the size of the program times the length of the text. */
  toWork(text: string): number
  /** The whole text must match. */
  matches(text: string): boolean
}

/** The most instructions of a pattern's program. `.{1,190}` has 381. */
export const PROGRAM_MAX = 400
/** Unicode classes cost milliseconds to compile. */
const CLASSES_MAX = 25
/** Matches build tables that take memory. After so much work, the program is compiled anew. */
const WORK_UNTIL_DROPPED = 100_000
const CACHED_MAX = 100

/** @throws Error that says what is wrong, as the rest of a sentence */
export function compilePattern(source: string): FieldPattern {
  const classes = source.match(/\[|\\p/gi)?.length ?? 0
  if (classes > CLASSES_MAX)
    throw new Error(`is too large: it may have at most ${CLASSES_MAX} classes of characters`)
  const program = compile(source)
  const size = program.programSize()
  if (size > PROGRAM_MAX) {
    throw new Error(
      `is too large: it has ${size} steps, and ${PROGRAM_MAX} are the most. {n,m} repeats all steps before it`,
    )
  }
  return { toWork: (text) => size * text.length, matches: (text) => program.testExact(text) }
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw new Error(explain(source, error.message))
  }
}

const UNSUPPORTED = 'which the syntax of RE2 does not have, so that the time to match stays bounded'

function explain(source: string, message: string): string {
  const lookAround = /\(\?<?[=!]/.exec(source)?.[0]
  if (lookAround) return `has a look-around ${lookAround}…), ${UNSUPPORTED}`
  const reference = /\\(?:[1-9]|k[<{'])/.exec(source)?.[0]
  if (reference) return `has a backreference ${reference}, ${UNSUPPORTED}`
  if (message.includes('invalid repeat count')) {
    return `repeats too often: ${message.split(': ').at(-1)}. At most 1000, also for repetitions in each other`
  }
  return `is no pattern of RE2: ${message.replace(/^error parsing regexp: /, '')}`
}

interface CachedPattern {
  pattern: FieldPattern
  work: number
}

const cache = createGenerations<CachedPattern>({ entriesMax: CACHED_MAX / 2 })

/** @returns the compiled pattern of a stored rule; undefined where it does not compile, as after an import */
function findPattern(source: string): CachedPattern | undefined {
  const cached = cache.get(source)
  if (cached) return cached
  try {
    const entry = { pattern: compilePattern(source), work: 0 }
    cache.set(source, entry)
    return entry
  } catch {
    return undefined
  }
}

/** The work that is left for one submission. */
export interface WorkBudget {
  left: number
}

/** @returns false also where the text is so long that the work is too much */
export function matchesPattern(source: string, text: string, budget: WorkBudget): boolean {
  const entry = findPattern(source)
  if (!entry) return true
  const work = entry.pattern.toWork(text)
  if (work > WORK_PER_TEXT || work > budget.left) return false
  budget.left -= work
  entry.work += work
  if (entry.work > WORK_UNTIL_DROPPED) cache.delete(source)
  return entry.pattern.matches(text)
}

/** About 0.1 s at worst, the first time that a program runs. */
const WORK_PER_TEXT = 400_000
/** For one submission. */
export const WORK_MAX = 2_000_000
