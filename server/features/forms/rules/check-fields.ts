// Checks submitted fields against the rules of the form (docs/contract.md §13).

import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { toEmailAddress } from '../../../lib/email.ts'
import { countCharacters } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { matchesPattern, WORK_MAX, type WorkBudget } from './field-pattern.ts'
import type { Mistake } from './mistake.ts'
import type { FieldRule, FieldRules, FieldType } from './schema.ts'

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
  const { type, multiple, minLength, maxLength, pattern } = rule
  const choices = rule.oneOf && new Set(rule.oneOf)
  return (value) => {
    // Browsers send a line break as two characters, and count it as one.
    const text = value.replaceAll('\r\n', '\n')
    const trimmed = text.trim()
    if (trimmed === '') return undefined
    const isRight = multiple ? listAddresses(trimmed, true) : type === undefined || isOfType(type, trimmed)
    if (!isRight) return { rule: 'type', type: type ?? 'email' }
    if (minLength !== undefined && countCharacters(text) < minLength)
      return { rule: 'minLength', limit: minLength }
    if (maxLength !== undefined && countCharacters(text) > maxLength)
      return { rule: 'maxLength', limit: maxLength }
    if (pattern !== undefined && !matchesPattern(pattern, text, budget)) return { rule: 'pattern' }
    if (choices && !choices.has(value) && !choices.has(text)) return { rule: 'oneOf' }
    return undefined
  }
}

/** As `<input type=email multiple>`. @returns undefined when one of them is not an address */
export function listAddresses(text: string, multiple = false): string[] | undefined {
  const addresses = (multiple ? text.split(',') : [text]).map(toEmailAddress)
  return addresses.every((address) => address !== undefined) ? addresses : undefined
}

/**
 * Accepts what browsers accept in the inputs of a type, with a limit where a browser accepts what nobody can use.
 * @param text trimmed, not empty
 */
export const isOfType = (type: FieldType, text: string): boolean => CHECKS[type](text)

/** A valid floating-point number: https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#floating-point-numbers */
const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?$/
/** A valid date string: https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#valid-date-string */
const DATE = /^(\d{4,6})-(\d\d)-(\d\d)$/
/**
 * Digits with the usual signs between them, and an extension. Browsers accept any text in `<input type=tel>`
 * (https://html.spec.whatwg.org/multipage/input.html#telephone-state-(type=tel)), because so many notations exist.
 */
const PHONE = /^[+(]?[\d\s()./+-]*(?:(?:ext\.?|x|#)\s*\d{1,6})?$/i
/** From emergency numbers to the 15 digits of ITU-T E.164, with a prefix for calls abroad and an extension. */
const PHONE_DIGITS = { min: 3, max: 25 }
const TEXT_MAX = 2_048

const CHECKS: Record<FieldType, (text: string) => boolean> = {
  email: (text) => toEmailAddress(text) !== undefined,
  /**
   * An absolute URL: https://html.spec.whatwg.org/multipage/input.html#url-state-(type=url). Only http and https: others
   * read what was sent and open it, and `javascript:` is a URL, too.
   */
  url(text) {
    const url = text.length <= TEXT_MAX && /^https?:\/\//i.test(text) && !/\s/.test(text) && parseUrl(text)
    return Boolean(url && url.hostname !== '')
  },
  tel(text) {
    if (text.length > TEXT_MAX || !PHONE.test(text)) return false
    const digits = text.replace(/\D/g, '').length
    return digits >= PHONE_DIGITS.min && digits <= PHONE_DIGITS.max
  },
  /** Like the input, refuses a number that is too large for a computer. */
  number: (text) => text.length <= TEXT_MAX && NUMBER.test(text) && Number.isFinite(Number(text)),
  date(text) {
    const [, year, month, day] = (DATE.exec(text) ?? []).map(Number)
    if (!year || !month || !day || month > 12) return false
    // Day 0 of the next month is the last day of this one. The years before 100 need setUTCFullYear.
    const last = new Date(0)
    last.setUTCFullYear(year, month, 0)
    return day <= last.getUTCDate()
  },
}
