// Compares the controls of a form with the rules of its fields: the server should accept every input that the page
// allows.

import { quote } from '../../../lib/text.ts'
import type { FieldRule, FieldRules } from '../rules/schema.ts'
import { createFinding, type Finding, formatElement } from './finding.ts'
import type { FormControl } from './parse-page.ts'

/** Inputs with free text. */
const TYPED = /^(text|search|email|url|tel|number|date)$/

export function checkFieldRules(fields: FormControl[], rules: FieldRules): Finding[] {
  return fields.flatMap((control) => {
    const rule = Object.hasOwn(rules, control.name) ? rules[control.name] : undefined
    if (!rule || control.disabled) return []
    return [...checkType(control, rule), ...checkLength(control, rule), ...checkValues(control, rule)]
  })
}

const warn = (code: string, message: string, fix: string) => createFinding('warning', code, message, fix)

function checkType({ tag, type, name }: FormControl, rule: FieldRule): Finding[] {
  if (rule.type === undefined || type === rule.type) return []
  if (tag !== 'textarea' && !TYPED.test(type)) return []
  const message = `The field ${quote(name)} lets people type what its rule refuses: it must be of the type ${rule.type}.`
  const fix = `Let the browser check it, too: ${formatElement('input', { type: rule.type, name })}`
  return [warn('rule_type', message, fix)]
}

function checkLength({ name, attributes }: FormControl, { minLength, maxLength }: FieldRule): Finding[] {
  const most = Number.parseInt(attributes.get('maxlength') ?? '', 10)
  if (!Number.isFinite(most)) return []
  if (minLength !== undefined && most < minLength) {
    const message = `Nobody can fill in ${quote(name)}: the page takes at most ${most} characters, and its rule asks for ${minLength}.`
    return [
      createFinding('error', 'rule_length', message, 'Raise maxlength, or lower minLength of the rule.'),
    ]
  }
  if (maxLength === undefined || most <= maxLength) return []
  const message = `The page takes ${most} characters in ${quote(name)}, and its rule ${maxLength}: a longer text is refused.`
  return [warn('rule_length', message, `Write maxlength="${maxLength}" on the page.`)]
}

function checkValues({ type, name, attributes }: FormControl, { pattern, oneOf }: FieldRule): Finding[] {
  const shown = attributes.get('pattern')
  if (pattern !== undefined && shown !== undefined && shown !== pattern) {
    const message = `The pattern of ${quote(name)} on the page is not the one of its rule: what the browser lets through may be refused.`
    return [warn('rule_pattern', message, `Write the same on both sides: pattern=${quote(pattern)}`)]
  }
  // A box without a value sends "on".
  const value = attributes.get('value') ?? 'on'
  if (!oneOf || (type !== 'radio' && type !== 'checkbox') || oneOf.includes(value)) return []
  const message = `The choice ${quote(value)} of ${quote(name)} is refused: the rule of the field does not name it.`
  return [
    createFinding(
      'error',
      'rule_choice',
      message,
      'Add it to oneOf of the rule, or change the value on the page.',
    ),
  ]
}
