// Warnings about rules that can never match. They are no errors: a rule may wait for another change.

import { readCountryCode } from '../../../lib/country-code.ts'
import { ANY_VALUE } from '../../../lib/url-query.ts'
import type { RedirectRule, RuleConditions, RuleWarning } from './schema.ts'

export function findRuleWarnings(rules: readonly RedirectRule[]): RuleWarning[] {
  return rules.flatMap(({ when }, rule) => {
    const message = findImpossible(when) ?? findShadow(rules.slice(0, rule), when)
    return message === undefined ? [] : [{ rule, message }]
  })
}

function findImpossible({ country, after, before }: RuleConditions): string | undefined {
  if (country?.every((code) => readCountryCode(code) === null))
    return `This rule can never match: no visitor has the country ${country.join(', ')}.`
  if (after !== undefined && before !== undefined && Date.parse(after) >= Date.parse(before))
    return 'This rule can never match: it ends before it begins.'
  return undefined
}

function findShadow(earlier: readonly RedirectRule[], when: RuleConditions): string | undefined {
  const first = earlier.find((rule) => covers(rule.when, when))
  return first && `This rule can never match: the rule to ${first.to} matches the same visitors first.`
}

const coversList = (wide: readonly string[] | undefined, narrow: readonly string[] | undefined) =>
  wide === undefined || (narrow?.every((value) => wide.includes(value)) ?? false)

/** Whether `wide` matches every visitor whom `narrow` matches. */
const covers = (wide: RuleConditions, narrow: RuleConditions): boolean =>
  coversList(wide.country, narrow.country) &&
  coversList(wide.device, narrow.device) &&
  coversList(wide.os, narrow.os) &&
  coversList(wide.language, narrow.language) &&
  Object.entries(wide.query ?? {}).every(([name, value]) => {
    const wanted = narrow.query?.[name]
    return wanted !== undefined && (value === ANY_VALUE || value === wanted)
  }) &&
  (wide.after === undefined || (narrow.after !== undefined && narrow.after >= wide.after)) &&
  (wide.before === undefined || (narrow.before !== undefined && narrow.before <= wide.before))
