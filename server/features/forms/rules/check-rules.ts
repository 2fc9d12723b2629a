// Checks the rules of a form before they are stored. It takes turns with other work: some patterns take milliseconds to
// compile.

import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { invalid } from '../../../lib/failure.ts'
import { createCheck } from './check-fields.ts'
import { CLASSES_OF_FORM_MAX, compilePattern, countClasses, WORK_MAX } from './field-pattern.ts'
import type { FieldRule, FieldRules } from './schema.ts'

/** @throws Failure `invalid`, with a message for each wrong pattern and each choice that the other rules refuse */
export async function requireValidRules(rules: FieldRules | null | undefined): Promise<void> {
  const errors: Record<string, string> = {}
  const pace = createPacer()
  let classes = 0
  for (const [name, rule] of Object.entries(rules ?? {})) {
    await pace()
    classes += countClasses(rule.pattern ?? '')
    const wrong = classes > CLASSES_OF_FORM_MAX ? TOO_MANY_CLASSES : findWrongPattern(rule)
    if (wrong !== undefined) errors[`rules.${name}.pattern`] = wrong
    else Object.assign(errors, findWrongChoices(name, rule))
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

const TOO_MANY_CLASSES = `is too large: the patterns of a form may have at most ${CLASSES_OF_FORM_MAX} classes of characters together`

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
