// Checks what was sent against the rules of the form's fields (docs/contract.md §13).

import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { countCharacters } from '../../../lib/text.ts'
import { matchesPattern, WORK_MAX, type WorkBudget } from './field-pattern.ts'
import { isOfType } from './field-types.ts'
import type { Mistake } from './mistake.ts'
import type { FieldRule, FieldRules } from './schema.ts'

/** The sender's values. */
export interface SentFields {
  fields: Map<string, string>
  /** The single values of the fields that were sent more than once, such as checkboxes. */
  repeated: Map<string, string[]>
  /** The names of file inputs with a file: only `requiredFields` is for them. */
  files: { has(name: string): boolean }
}

/**
 * Adds the first mistake of each field that has none yet. Each value of a field that was sent more than once is checked
 * alone. A blank value passes: whether a field may be empty is for `requiredFields` to say.
 */
export async function addRuleMistakes(
  mistakes: Map<string, Mistake>,
  rules: FieldRules,
  { fields, repeated, files }: SentFields,
): Promise<void> {
  const pace = createPacer()
  const budget: WorkBudget = { left: WORK_MAX }
  for (const [name, rule] of Object.entries(rules)) {
    const value = fields.get(name)
    if (value === undefined || mistakes.has(name) || files.has(name)) continue
    const check = createCheck(rule, budget)
    for (const single of repeated.get(name) ?? [value]) {
      const mistake = check(single)
      await pace()
      if (!mistake) continue
      mistakes.set(name, mistake)
      break
    }
  }
}

/** @returns a function that finds the first mistake of a value */
export function createCheck(rule: FieldRule, budget: WorkBudget): (value: string) => Mistake | undefined {
  const { type, minLength, maxLength, pattern } = rule
  const choices = rule.oneOf && new Set(rule.oneOf)
  return (value) => {
    // Browsers send a line break as two characters, and count it as one.
    const text = value.replaceAll('\r\n', '\n')
    const trimmed = text.trim()
    if (trimmed === '') return undefined
    if (type !== undefined && !isOfType(type, trimmed)) return { rule: 'type', type }
    if (minLength !== undefined && countCharacters(text) < minLength)
      return { rule: 'minLength', limit: minLength }
    if (maxLength !== undefined && countCharacters(text) > maxLength)
      return { rule: 'maxLength', limit: maxLength }
    if (pattern !== undefined && !matchesPattern(pattern, text, budget)) return { rule: 'pattern' }
    if (choices && !choices.has(value) && !choices.has(text)) return { rule: 'oneOf' }
    return undefined
  }
}
