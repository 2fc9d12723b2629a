// Lists the page's names for the fields of a form: labels, legends of groups, and attributes that replace them.

import { normalizeUnicode } from '../../../lib/text.ts'
import { LABEL_MAX } from '../labels/schema.ts'
import { CAPTCHA_FIELD, hasControlPrefix } from '../settings/control-fields.ts'
import { LABEL_TEXT_MAX, type PageText } from './label-reader.ts'
import type { FormControl, PageForm } from './parse-page.ts'

/** A submission has at most as many fields. */
const FIELDS_MAX = 256

/** Marks of required fields, and what leads over to the field. */
const MARKS = /(?:\s*(?:[*:：†]|\((?:required|optional)\)))+$/i

function toLabel(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const line = normalizeUnicode(text.slice(0, LABEL_TEXT_MAX).toWellFormed(), 'NFC').replace(
    /[\s\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu,
    ' ',
  )
  return (
    line
      .trim()
      .replace(/^[*†]\s*/, '')
      .replace(MARKS, '')
      .slice(0, LABEL_MAX)
      .trim() || undefined
  )
}

/** People do not fill these in. */
const NO_FIELD = /^(hidden|submit|button|reset|image)$/

/** @returns a label for each field of the form that has one, in the order of the page */
export function listFieldLabels(
  { controls }: PageForm,
  byId: ReadonlyMap<string, PageText>,
): Map<string, string> {
  const fields = controls.filter(
    ({ tag, type, name }) =>
      tag !== 'button' &&
      !NO_FIELD.test(type) &&
      name !== '' &&
      !hasControlPrefix(name) &&
      name !== CAPTCHA_FIELD,
  )
  const labels = new Map<string, string>()
  for (const [name, group] of Map.groupBy(fields, (control) => control.name)) {
    const first = group[0] as FormControl
    // The labels of a group belong to its choices.
    const isGroup = /^(radio|checkbox)$/.test(first.type) && (group.length > 1 || first.type === 'radio')
    const label = isGroup ? toLabel(first.texts.legend?.text) : findOwnLabel(first, byId)
    if (label !== undefined && labels.size < FIELDS_MAX) labels.set(name, label)
  }
  return labels
}

const findOwnLabel = ({ attributes, texts }: FormControl, byId: ReadonlyMap<string, PageText>) =>
  toLabel(byId.get(attributes.get('id') ?? '')?.text) ??
  toLabel(texts.around?.text) ??
  toLabel(attributes.get('aria-label')) ??
  toLabel(attributes.get('placeholder')) ??
  toLabel(attributes.get('title'))
