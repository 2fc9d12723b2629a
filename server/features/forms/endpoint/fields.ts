// From what was sent to what is kept: control fields apart, repeated names as one text, and every rule a form has.

import { isEmail } from '../../../lib/email.ts'
import { countCharacters } from '../../../lib/text.ts'
import { tooLarge } from './endpoint-error.ts'
import type { BodyEntry } from './read-body.ts'

const FIELDS_MAX = 256
const NAME_MAX = 256
const VALUE_MAX = 65_536

export const CAPTCHA_FIELD = 'cf-turnstile-response'

export interface SubmissionInput {
  /** In the sender's order. A Map, because `__proto__` and `10` are names like any other. */
  fields: Map<string, string>
  /** Names whose value is blank in each place. */
  blank: Set<string>
  files: Set<string>
  nested: Set<string>
  /** The field named exactly `email`, trimmed; undefined where it is absent or blank. */
  email: string | undefined
  /** The honeypot was filled. */
  trapped: boolean
  next: string | undefined
  token: string | undefined
  /** `_service_eid`: which visit this belongs to. */
  eventId: string | undefined
}

/** @throws Refusal 413 */
export function parseFields(entries: BodyEntry[], { json }: { json: boolean }): SubmissionInput {
  const sent: SubmissionInput = {
    fields: new Map(),
    blank: new Set(),
    files: new Set(),
    nested: new Set(),
    email: undefined,
    trapped: false,
    next: undefined,
    token: undefined,
    eventId: undefined,
  }
  const values = new Map<string, string[]>()
  for (const entry of entries) {
    const name = toStorable(entry.name)
    if (tooLong(name, NAME_MAX)) throw tooLarge()
    if (name === '') continue
    if (name.startsWith('_') || name === CAPTCHA_FIELD) takeControl(sent, name, entry, json)
    else if ('nested' in entry) sent.nested.add(name)
    else if ('file' in entry) takeFile(sent, name, entry.file)
    else push(values, name, toStorable(entry.value))
  }
  for (const [name, several] of values) {
    const value = several.join(', ')
    if (tooLong(value, VALUE_MAX)) throw tooLarge()
    sent.fields.set(name, value)
    if (several.every((one) => one.trim() === '')) sent.blank.add(name)
    else if (name === 'email') sent.email = value.trim()
  }
  if (new Set([...values.keys(), ...sent.nested, ...sent.files]).size > FIELDS_MAX) throw tooLarge()
  return sent
}

/** NUL (PostgreSQL cannot store it) and halves of surrogate pairs (nobody can) go; everything else stays as sent. */
const toStorable = (text: string) =>
  text.includes('\0') || !text.isWellFormed() ? text.replace(/\0|\p{Surrogate}/gu, '') : text

// Counted in full only where it matters: a text has no more characters than it has units.
const tooLong = (text: string, max: number) => text.length > max && countCharacters(text) > max

function push(values: Map<string, string[]>, name: string, value: string) {
  const several = values.get(name)
  if (several) several.push(value)
  else values.set(name, [value])
}

/** A file input where nothing was chosen was not sent, as far as the form is concerned. */
function takeFile(sent: SubmissionInput, name: string, file: 'none' | 'chosen') {
  if (file === 'chosen') sent.files.add(name)
}

/** Of several the first that says something counts: a page with two captcha widgets sends an empty token as well. */
function takeControl(sent: SubmissionInput, name: string, entry: BodyEntry, json: boolean) {
  if ('nested' in entry) {
    sent.nested.add(name)
    return
  }
  const value = 'value' in entry ? toStorable(entry.value) : ''
  if (tooLong(value, VALUE_MAX)) throw tooLarge()
  if (name === '_gotcha') sent.trapped ||= value !== '' || ('file' in entry && entry.file === 'chosen')
  if (value.trim() === '') return
  if (name === '_next') sent.next ??= value
  if (name === '_service_eid') sent.eventId ??= value
  if (name === CAPTCHA_FIELD || (name === '_turnstile' && json)) sent.token ??= value
}

/** What is wrong, by field; nothing where it is empty. */
export function validateFields(sent: SubmissionInput, requiredFields: string[]): Map<string, string> {
  const errors = new Map<string, string>()
  const add = (name: string, message: string) => {
    if (!errors.has(name)) errors.set(name, message)
  }
  for (const name of requiredFields) {
    if (sent.nested.has(name) || sent.files.has(name)) continue
    if (!sent.fields.has(name) || sent.blank.has(name)) add(name, 'This field is required')
  }
  for (const name of sent.nested) add(name, 'Must be a string')
  for (const name of sent.files) add(name, 'File uploads are not supported')
  if (sent.email !== undefined && !isEmail(sent.email)) add('email', 'Enter a valid email address')
  return errors
}
