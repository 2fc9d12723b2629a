// Checks the rules of a form before they are stored. It takes turns with other work: some patterns take milliseconds to
// compile.

import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { invalid } from '../../../lib/failure.ts'
import { createCheck } from './check-fields.ts'
import { compilePattern, WORK_MAX } from './field-pattern.ts'
import type { FieldRule, FieldRules } from './schema.ts'

/** @throws Failure `invalid`, with a message for each wrong pattern and each choice that the other rules refuse */
export async function requireValidRules(rules: FieldRules | null | undefined): Promise<void> {
  const errors: Record<string, string> = {}
  const pace = createPacer()
  for (const [name, rule] of Object.entries(rules ?? {})) {
    await pace()
    const wrong = findWrongPattern(rule)
    if (wrong !== undefined) errors[`rules.${name}.pattern`] = wrong
    else Object.assign(errors, findWrongChoices(name, rule))
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

function findWrongPattern({ pattern }: FieldRule): string | undefined {
  try {
    if (pattern !== undefined) compilePattern(pattern)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function findWrongChoices(name: string, { oneOf = [], ...others }: FieldRule): Record<string, string> {
  const check = createCheck(others, { left: WORK_MAX })
  const wrong = oneOf.flatMap((choice, i) => (check(choice) ? [[`rules.${name}.oneOf.${i}`, REFUSED]] : []))
  return Object.fromEntries(wrong)
}

const REFUSED = 'is refused by the other rules of this field'
