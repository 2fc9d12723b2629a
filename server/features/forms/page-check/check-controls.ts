// Checks the controls of a form: whether they are sent and stored, and whether required fields are there.

import { quote } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { HONEYPOT_HTML } from '../markup.ts'
import type { FieldRule, FieldRules } from '../rules/schema.ts'
import type { FormResource } from '../schema.ts'
import {
  CAPTCHA_FIELD,
  EVENT_ID_FIELD,
  HONEYPOT_FIELD,
  hasControlPrefix,
  LANGUAGE_FIELD,
  NEXT_FIELD,
  REPLY_TO_FIELD,
} from '../settings/control-fields.ts'
import {
  createFinding,
  type Findings,
  formatElement,
  foundError,
  foundWarning,
  quoteList,
} from './finding.ts'
import type { FormControl, PageForm } from './parse-page.ts'

/** Names with an underscore that have a meaning. A browser fills in `_charset_` by itself. */
const KNOWN_CONTROL_FIELDS = [
  HONEYPOT_FIELD,
  NEXT_FIELD,
  LANGUAGE_FIELD,
  EVENT_ID_FIELD,
  REPLY_TO_FIELD,
  '_charset_',
]

const isButton = ({ tag, type }: FormControl) =>
  tag === 'button' || /^(submit|reset|button|image)$/.test(type)
const isSubmit = ({ type }: FormControl) => type === 'submit' || type === 'image'

export function* checkControls(
  { controls, attributes }: PageForm,
  form: Pick<FormResource, 'requiredFields' | 'rules' | 'uploads'>,
): Findings {
  const fields = controls.filter((control) => !isButton(control))
  yield* checkRequired(controls, form.requiredFields)
  yield* checkNames(fields)
  yield* checkEmail(fields)
  yield* checkFiles(fields, attributes, form)
  yield* checkFieldRules(fields, form.rules)
  yield* checkHoneypot(fields.filter(({ name }) => name === HONEYPOT_FIELD))
  yield* checkSubmit(controls)
}

/** Inputs with free text. */
const TYPED = /^(text|search|email|url|tel|number|date)$/

/**
 * Compares the controls of a form with the rules of its fields: the server should accept every input that the page
 * allows.
 */
function* checkFieldRules(fields: FormControl[], rules: FieldRules): Findings {
  for (const control of fields) {
    const rule = Object.hasOwn(rules, control.name) ? rules[control.name] : undefined
    if (!rule || control.disabled) continue
    yield* checkType(control, rule)
    yield* checkLength(control, rule)
    yield* checkValues(control, rule)
  }
}

function* checkType({ tag, type, name }: FormControl, rule: FieldRule): Findings {
  if (rule.type === undefined || type === rule.type) return
  if (tag !== 'textarea' && !TYPED.test(type)) return
  const message = `The field ${quote(name)} allows input that its rule refuses: its type must be ${rule.type}.`
  const fix = `Let the browser check it too: ${formatElement('input', { type: rule.type, name })}`
  yield foundWarning('rule_type', message, fix)
}

function* checkLength({ name, attributes }: FormControl, { minLength, maxLength }: FieldRule): Findings {
  const most = Number.parseInt(attributes.get('maxlength') ?? '', 10)
  if (!Number.isFinite(most)) return
  if (minLength !== undefined && most < minLength) {
    const message = `${quote(name)} cannot be filled in: the page has maxlength="${most}", and the minLength of its rule is ${minLength}.`
    yield foundError('rule_length', message, 'Raise maxlength, or lower minLength of the rule.')
  } else if (maxLength !== undefined && most > maxLength) {
    const message = `The page has maxlength="${most}" for ${quote(name)}, and the maxLength of its rule is ${maxLength}: longer text is refused.`
    yield foundWarning('rule_length', message, `Write maxlength="${maxLength}" on the page.`)
  }
}

function* checkValues({ type, name, attributes }: FormControl, { pattern, oneOf }: FieldRule): Findings {
  const shown = attributes.get('pattern')
  if (pattern !== undefined && shown !== undefined && shown !== pattern) {
    const message = `The pattern of ${quote(name)} on the page differs from its rule: input that the browser accepts may be refused.`
    yield foundWarning('rule_pattern', message, `Write the same on both sides: pattern=${quote(pattern)}`)
    return
  }
  // A box without a value sends "on".
  const value = attributes.get('value') ?? 'on'
  if (!oneOf || (type !== 'radio' && type !== 'checkbox') || oneOf.includes(value)) return
  const message = `The choice ${quote(value)} of ${quote(name)} is refused: the field's rule does not list it.`
  yield foundError('rule_choice', message, 'Add it to oneOf of the rule, or change the value on the page.')
}

function* checkRequired(controls: FormControl[], required: string[]): Findings {
  for (const name of required) {
    const same = controls.filter((control) => control.name === name)
    if (same.some(({ disabled }) => !disabled)) continue
    const refused = `every submission is refused with "This field is required"`
    if (same.length > 0) {
      const message = `The required field ${quote(name)} is disabled on the page, and a disabled field is not sent: ${refused}.`
      yield foundError(
        'required_field_disabled',
        message,
        'Remove disabled from the field (readonly is sent).',
      )
      continue
    }
    const alike = controls.find((control) => control.name.trim().toLowerCase() === name.trim().toLowerCase())
    const instead = alike ? ` The page has ${quote(alike.name)}; names must be exactly the same.` : ''
    const message = `The page has no field named ${quote(name)}, which the form requires: ${refused}.${instead}`
    const line = formatElement('input', { name, required: '' })
    const fix = alike
      ? `Rename it: name=${quote(name)}`
      : `Add it, for example ${line}, or take it from the form's required fields.`
    yield foundError('required_field_missing', message, fix)
  }
}

function* checkNames(fields: FormControl[]): Findings {
  const unnamed = fields.filter(({ name, disabled }) => name === '' && !disabled)
  if (unnamed.length > 0) {
    const what = unnamed.map(({ tag, type, attributes }) => attributes.get('id') || type || tag)
    const isSome = fields.some(
      ({ name, type }) => type !== 'hidden' && name !== '' && !hasControlPrefix(name),
    )
    const message = isSome
      ? `${unnamed.length} field(s) without a name: browsers do not send them (${quoteList(what)}).`
      : `No field has a name, so browsers do not send the input (${quoteList(what)}).`
    const fix = 'Give each a name, for example name="message".'
    yield createFinding(isSome ? 'warning' : 'error', 'field_without_name', message, fix)
  }
  const dropped = fields.filter(({ name }) => hasControlPrefix(name) && !KNOWN_CONTROL_FIELDS.includes(name))
  if (dropped.length > 0) {
    const message = `Names that start with "_" are control fields and are never stored: ${quoteList(dropped.map(({ name }) => name))}.`
    yield foundWarning('name_never_stored', message, 'Rename them without the "_" at the beginning.')
  }
  if (fields.some(({ name }) => name === EVENT_ID_FIELD)) {
    const message = 'The page sets _service_eid, but only the tracking snippet knows its value.'
    yield foundWarning('event_id_by_hand', message, 'Remove the field named _service_eid.')
  }
  if (fields.some(({ name }) => name === CAPTCHA_FIELD)) {
    const message = `The page sets ${CAPTCHA_FIELD}, but only the tracking snippet can make a valid token.`
    yield foundWarning('captcha_by_hand', message, `Remove the field named ${CAPTCHA_FIELD}.`)
  }
  for (const { name, type, attributes } of fields) {
    if (name !== NEXT_FIELD || type !== 'hidden') continue
    const value = attributes.get('value') ?? ''
    const next = parseUrl(value, 'https://page.invalid/')
    if (value === '' || (next && /^https?:$/.test(next.protocol) && !next.username && !next.password))
      continue
    const message = `_next is ${quote(value)}: only http and https addresses without a user name are followed.`
    const fix = `Write the whole address: ${formatElement('input', { type: 'hidden', name: NEXT_FIELD, value: 'https://example.com/thanks' })}`
    yield foundWarning('next_ignored', message, fix)
  }
}

function* checkEmail(fields: FormControl[]): Findings {
  const exact = fields.filter(({ name, disabled, type }) => name === 'email' && !disabled && type !== 'radio')
  if (exact.length > 1) {
    const message = `${exact.length} fields are named email: their values are joined with a comma, which is not an email address, so submissions with both are refused.`
    yield foundError('email_twice', message, 'Name only one of them email.')
    return
  }
  if (exact.length > 0) return
  const alike = fields.find(
    ({ name, type }) =>
      name !== '' && name !== 'email' && (type === 'email' || /^(e-?mail(-?address)?|_replyto)$/i.test(name)),
  )
  if (!alike) return
  const message = `The email field is named ${quote(alike.name)}: only a field named exactly email is checked, and answered when you reply to a notification.`
  const fix = `Rename it: ${formatElement('input', { type: 'email', name: 'email', autocomplete: 'email' })}`
  yield foundWarning('email_name', message, fix)
}

function* checkFiles(
  fields: FormControl[],
  formAttributes: Map<string, string>,
  { uploads }: Pick<FormResource, 'uploads'>,
): Findings {
  const files = fields.filter(({ type, disabled }) => type === 'file' && !disabled)
  if (files.length === 0) return
  const names = quoteList(files.map(({ name, attributes }) => name || attributes.get('id') || 'file'))
  if (!uploads) {
    const message = `The form has file fields (${names}): a submission with a chosen file is refused with "File uploads are not supported".`
    const fix = "Turn on uploads in the form's settings, or remove the file fields."
    yield foundError('file_field', message, fix)
    return
  }
  if (formAttributes.get('enctype')?.trim().toLowerCase() === 'multipart/form-data') return
  const message = `The form has file fields (${names}) and no enctype="multipart/form-data": without the tracking snippet, browsers send the names of the files instead of the files.`
  yield foundError('file_enctype', message, 'Add enctype="multipart/form-data" to the form element.')
}

function* checkHoneypot(traps: FormControl[]): Findings {
  if (traps.length === 0) {
    const message = 'The form has no honeypot: simple bots are not detected.'
    yield foundWarning('honeypot_missing', message, `Add this line inside the form: ${HONEYPOT_HTML}`)
    return
  }
  const fix = `Replace it: ${HONEYPOT_HTML}`
  for (const { type, attributes, concealed } of traps) {
    const box = type === 'checkbox' || type === 'radio'
    if (box ? attributes.has('checked') : (attributes.get('value') ?? '') !== '') {
      const message =
        'The honeypot _gotcha is filled in already: every submission counts as spam and is silently dropped.'
      yield foundError('honeypot_filled', message, fix)
    }
    if (type === 'hidden') continue
    if (attributes.has('required')) {
      const message = 'The honeypot _gotcha is required: browsers refuse to send the form while it is empty.'
      yield foundError('honeypot_required', message, fix)
    }
    if (!concealed) {
      const message =
        'The honeypot _gotcha is visible: people fill it in, and their submissions are silently dropped.'
      yield foundWarning('honeypot_visible', message, fix)
    }
    if (!box && !/^(off|new-password|one-time-code)$/i.test((attributes.get('autocomplete') ?? '').trim())) {
      const message =
        'Browsers and password managers may fill in the honeypot _gotcha, and the submission is silently dropped.'
      yield foundWarning('honeypot_autofill', message, 'Add autocomplete="off" to it.')
    }
  }
}

function* checkSubmit(controls: FormControl[]): Findings {
  if (controls.some((control) => isSubmit(control) && !control.disabled)) return
  const disabled = controls.some(isSubmit)
  const message = disabled
    ? 'The submit button is disabled: the form cannot be sent unless a script enables it.'
    : 'The form has no submit button.'
  const fix = disabled
    ? 'Remove disabled from the button.'
    : 'Add <button type="submit">Send</button> inside the form.'
  yield foundWarning(disabled ? 'submit_disabled' : 'submit_missing', message, fix)
}
