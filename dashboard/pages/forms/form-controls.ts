// The controls of a form in HTML, with the limits that its settings ask for. The code to copy and the gallery share them.

import { toFieldLabel } from '../../../server/features/forms/markup.ts'
import type { FormResource } from '../../../server/features/forms/schema.ts'

export type ExampleForm = Pick<FormResource, 'endpoint' | 'requiredFields' | 'captcha' | 'successMessage'> &
  Partial<Pick<FormResource, 'rules' | 'uploads' | 'consent' | 'messages' | 'fieldLabels'>>
type FieldSettings = Pick<ExampleForm, 'requiredFields' | 'rules' | 'uploads' | 'consent'>

const USUAL_FIELDS = ['name', 'email', 'message']
/** The name of the file input, where no setting of the form names one. */
export const FILE_FIELD = 'file'

/** The usual fields, and those that the settings name, but for the consent and the file input. */
export const listFieldNames = (
  { requiredFields, rules, uploads, consent }: FieldSettings,
  usual: readonly string[] = USUAL_FIELDS,
) =>
  [...new Set([...usual, ...requiredFields, ...Object.keys(rules ?? {})])].filter(
    (name) => name !== consent?.field && !(uploads && name === FILE_FIELD),
  )

export const escapeHtml = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('{', '&#123;')
    .replaceAll('}', '&#125;')

/** The form's label of a field, else the field's name in words. */
export const toControlLabel = (
  name: string,
  { fieldLabels = {} }: Pick<ExampleForm, 'fieldLabels'>,
): string => (Object.hasOwn(fieldLabels, name) ? (fieldLabels[name] as string) : toFieldLabel(name))

export const isLongText = (name: string) => /message|comment|question|description|text$/i.test(name)

const findRule = (name: string, rules: FormResource['rules'] = {}) =>
  Object.hasOwn(rules, name) ? rules[name] : undefined

/** The type of a field's input: what its rule says, else what its name says. */
export const toInputType = (name: string, rules: FormResource['rules'] = {}): string =>
  findRule(name, rules)?.type ?? (name.toLowerCase() === 'email' ? 'email' : 'text')

/** Browsers use another regular expression syntax. They ignore a pattern that they cannot read, and log an error. */
function isBrowserPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, 'v')
    return true
  } catch {
    return false
  }
}

/** The input type that a field's name suggests. A rule of the form takes precedence. */
export interface KnownInput {
  type?: string
  attributes?: string[]
}

/** Length limits do not apply to these types, and a text rule may not match the format of their values. */
const NO_TEXT = ['date', 'time', 'number']

const toAttribute = (name: string, value: string | number) => `${name}="${escapeHtml(String(value))}"`

export function writeControl(name: string, form: ExampleForm, known: KnownInput = {}): string {
  const rule = findRule(name, form.rules)
  const required = form.requiredFields.includes(name) && 'required'
  if (rule?.oneOf) {
    const options = rule.oneOf.map((choice) => `<option>${escapeHtml(choice)}</option>`)
    const attributes = [toAttribute('name', name), required].filter(Boolean).join(' ')
    return `<select ${attributes}><option value="">Choose</option>${options.join('')}</select>`
  }
  const hasLimits = rule !== undefined && (rule.pattern ?? rule.minLength ?? rule.maxLength) !== undefined
  const isFitting = !(hasLimits && known.type && NO_TEXT.includes(known.type))
  const type = rule?.type ?? (isFitting ? known.type : undefined) ?? toInputType(name, form.rules)
  const isLong = isLongText(name) && type === 'text' && !rule?.pattern
  const isText = !NO_TEXT.includes(type)
  const attributes = [
    type !== 'text' && !isLong && toAttribute('type', type),
    toAttribute('name', name),
    ...(type === (known.type ?? type) ? (known.attributes ?? []) : []),
    rule?.multiple && 'multiple',
    // Allows decimals, which browsers refuse by default.
    rule?.type === 'number' && toAttribute('step', 'any'),
    isText && rule?.minLength !== undefined && toAttribute('minlength', rule.minLength),
    isText && rule?.maxLength !== undefined && toAttribute('maxlength', rule.maxLength),
    isText && rule?.pattern && isBrowserPattern(rule.pattern) && toAttribute('pattern', rule.pattern),
    required,
  ]
    .filter(Boolean)
    .join(' ')
  return isLong ? `<textarea ${attributes}></textarea>` : `<input ${attributes}>`
}

export function writeFileInput({ uploads, requiredFields }: ExampleForm): string {
  const attributes = [
    toAttribute('type', 'file'),
    toAttribute('name', FILE_FIELD),
    uploads && uploads.accept.length > 0 && toAttribute('accept', uploads.accept.join(',')),
    uploads && uploads.maxFiles > 1 && 'multiple',
    requiredFields.includes(FILE_FIELD) && 'required',
  ]
  return `<input ${attributes.filter(Boolean).join(' ')}>`
}

export function writeConsentInput(field: string, { requiredFields }: ExampleForm): string {
  const required = requiredFields.includes(field) ? ' required' : ''
  return `<input type="checkbox" ${toAttribute('name', field)} value="yes"${required}>`
}

/** The language of the messages, where the form has texts of its own: else the browser's language decides. */
export function writeLanguage(messages: FormResource['messages'] = {}): string[] {
  const [locale] = Object.keys(messages)
  return locale ? [`<input type="hidden" name="_lang" ${toAttribute('value', locale)}>`] : []
}

/** Without the encoding, browsers send the names of files only. */
export const writeEncoding = ({ uploads }: Pick<ExampleForm, 'uploads'>) =>
  uploads ? ' enctype="multipart/form-data"' : ''
