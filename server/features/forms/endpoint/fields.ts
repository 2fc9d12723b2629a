// Turns the entries of a body into the fields to store: takes control fields out, joins repeated names into one text,
// and checks the form's rules (docs/contract.md §7).

import { trimInvisible } from '../../../lib/clean-text.ts'
import { toEmailAddress } from '../../../lib/email.ts'
import { countCharacters } from '../../../lib/text.ts'
import { listAddresses } from '../rules/check-fields.ts'
import type { Mistake } from '../rules/mistake.ts'
import type { FieldRules } from '../rules/schema.ts'
import {
  CAPTCHA_FIELD,
  CAPTCHA_JSON_FIELD,
  EVENT_ID_FIELD,
  HONEYPOT_FIELD,
  isControlField,
  LANGUAGE_FIELD,
  NEXT_FIELD,
  PAGE_VIEW_FIELD,
  REPLY_TO_FIELD,
  TEST_FIELD,
} from '../settings/control-fields.ts'
import type { BodyEntry } from './body-entry.ts'
import { tooLarge } from './endpoint-error.ts'

/** Names, and characters of a name and of a value. */
export const FIELD_LIMITS = { fields: 256, name: 256, value: 65_536 }

export interface SubmissionInput {
  /** In the sender's order. A Map, because an object gives `__proto__` and `10` a meaning of their own. */
  fields: Map<string, string>
  /** The single values of the names that were sent more than once. */
  repeated: Map<string, string[]>
  /** Names with only blank values. */
  blank: Set<string>
  /** Names of file inputs with a chosen file, where the form takes none. */
  files: Set<string>
  /** Names with a JSON value that is an object, or an array with one. */
  nested: Set<string>
  /** The sender's address, or text that is none, in the field that has it; undefined where it is absent or blank. */
  email?: string
  emailField: 'email' | typeof REPLY_TO_FIELD
  /** The honeypot has a value. */
  trapped: boolean
  next?: string
  /** The value of `_lang`. */
  language?: string
  token?: string
  /** The event id of the visit. */
  eventId?: string
  /** A page view that the server may not have: the form was faster than its report. */
  pageView?: string
  /** Marks a test of the dashboard, where it is a token of ours. */
  testToken?: string
}

/** @param json the body was JSON, where the captcha token has a second name. @throws EndpointError 413 */
export function parseFields(entries: BodyEntry[], { json }: { json: boolean }): SubmissionInput {
  const input: SubmissionInput = {
    fields: new Map(),
    repeated: new Map(),
    blank: new Set(),
    files: new Set(),
    nested: new Set(),
    emailField: 'email',
    trapped: false,
  }
  const values = new Map<string, string[]>()
  for (const entry of entries) {
    const name = toStorable(entry.name)
    if (isTooLong(name, FIELD_LIMITS.name)) throw tooLarge()
    if (name === '') continue
    if (isControlField(name)) addControlField(input, name, entry, json)
    else if ('nested' in entry) input.nested.add(name)
    else if ('file' in entry) addFile(input, name, entry.file)
    else if ('fileName' in entry) addValue(values, name, entry.fileName)
    else addValue(values, name, toStorable(entry.value))
  }
  for (const [name, texts] of values) {
    const value = texts.join(', ')
    if (isTooLong(value, FIELD_LIMITS.value)) throw tooLarge()
    input.fields.set(name, value)
    if (texts.length > 1) input.repeated.set(name, texts)
    if (texts.every(isBlank)) input.blank.add(name)
    else if (name === 'email') setEmail(input, name, value)
  }
  if (new Set([...values.keys(), ...input.nested, ...input.files]).size > FIELD_LIMITS.fields)
    throw tooLarge()
  return input
}

/** Removes NUL, which PostgreSQL cannot store, and lone surrogates, which UTF-8 cannot hold. Keeps the rest as sent. */
export const toStorable = (text: string) =>
  text.includes('\0') || !text.isWellFormed() ? text.replace(/\0|\p{Surrogate}/gu, '') : text

// Counts characters only where needed: a text never has more characters than UTF-16 units.
const isTooLong = (text: string, max: number) => text.length > max && countCharacters(text) > max

const isBlank = (text: string) => trimInvisible(text) === ''

/** The first of the two fields with text counts, and `email` comes first. */
function setEmail(input: SubmissionInput, field: SubmissionInput['emailField'], text: string) {
  if (input.email !== undefined && field !== 'email') return
  input.email = toEmailAddress(text) ?? trimInvisible(text)
  input.emailField = field
}

function addValue(values: Map<string, string[]>, name: string, value: string) {
  const texts = values.get(name)
  if (texts) texts.push(value)
  else values.set(name, [value])
}

/** A file input where nothing was chosen counts as absent. */
function addFile(input: SubmissionInput, name: string, file: 'none' | 'chosen') {
  if (file === 'chosen') input.files.add(name)
}

/** The first value that is not blank counts: a page with two captcha widgets also sends an empty token. */
function addControlField(input: SubmissionInput, name: string, entry: BodyEntry, json: boolean) {
  if ('nested' in entry) {
    input.nested.add(name)
    return
  }
  const value = 'value' in entry ? toStorable(entry.value) : ''
  if (isTooLong(value, FIELD_LIMITS.value)) throw tooLarge()
  if (name === HONEYPOT_FIELD) input.trapped ||= value !== '' || ('file' in entry && entry.file === 'chosen')
  if (isBlank(value)) return
  if (name === NEXT_FIELD) input.next ??= value
  if (name === REPLY_TO_FIELD) setEmail(input, name, value)
  if (name === LANGUAGE_FIELD) input.language ??= value
  if (name === EVENT_ID_FIELD) input.eventId ??= value
  if (name === PAGE_VIEW_FIELD) input.pageView ??= value
  if (name === TEST_FIELD) input.testToken ??= value
  if (name === CAPTCHA_FIELD || (name === CAPTCHA_JSON_FIELD && json)) input.token ??= value
}

/** Every field is empty or blank. */
export const isBlankSubmission = ({ fields, blank }: SubmissionInput): boolean => blank.size === fields.size

/** @returns the first mistake of each field; an empty map where every field is valid */
export function validateFields(
  input: SubmissionInput,
  requiredFields: string[],
  rules: FieldRules = {},
): Map<string, Mistake> {
  const mistakes = new Map<string, Mistake>()
  const add = (name: string, mistake: Mistake) => {
    if (!mistakes.has(name)) mistakes.set(name, mistake)
  }
  for (const name of requiredFields) {
    if (input.nested.has(name) || input.files.has(name)) continue
    if (!input.fields.has(name) || input.blank.has(name)) add(name, { rule: 'required' })
  }
  for (const name of input.nested) add(name, { rule: 'text' })
  for (const name of input.files) add(name, { rule: 'noUploads' })
  if (input.email !== undefined) {
    const addresses = listAddresses(input.email, rules[input.emailField]?.multiple)
    if (addresses) input.email = addresses[0]
    else add(input.emailField, { rule: 'type', type: 'email' })
  }
  return mistakes
}
