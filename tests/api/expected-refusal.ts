// Decides which input must be refused: by the OpenAPI document, and by the rules of docs/contract.md, which are written
// here again and independently of the tested code.

import { BAD_URLS } from './hostile-input.ts'
import { listSchemaErrors, type Parameter, type Schema } from './openapi-document.ts'

const isClean = (text: string) => !text.includes('\0') && text.isWellFormed()

/** The longest text in docs/contract.md is a URL (§2). No valid parameter is longer. */
const LONGEST = 8192

const isNeverValid = () => false
const ids = /^\d{1,15}(,\d{1,15})*$/

/** Fields with rules beyond the schema's length, pattern and enum: the name, and the test for a valid text. */
const FIELDS: Record<string, (text: string) => boolean> = {
  slug: (text) => /^[\p{L}\p{M}\p{N}._-]{1,190}$/u.test(text.normalize('NFC')),
  // No text of hostile-input.ts is a short domain of the workspace.
  domain: isNeverValid,
  name: (text) => text.trim() !== '',
  // No text of hostile-input.ts is an address.
  address: isNeverValid,
}

const PARAMETERS: Record<string, (text: string) => boolean> = {
  cursor: isNeverValid,
  after: isNeverValid,
  start: (text) => Number.isFinite(Date.parse(text)),
  end: (text) => Number.isFinite(Date.parse(text)),
  timezone: isNeverValid,
  ids: (text) => ids.test(text),
  tagId: (text) => ids.test(text.replace(/^-/, '')),
  linkId: (text) => ids.test(text.replace(/^-/, '')),
  trigger: isNeverValid,
  class: isNeverValid,
  // No text of hostile-input.ts is the name of the workspace.
  confirm: isNeverValid,
}

/** @param body the whole body with the value in it, as the server reads it */
export function mustRefuseBody(schema: Schema, body: unknown, name: string, value: unknown): boolean {
  if (typeof value === 'string') {
    if (!isClean(value) || BAD_URLS.includes(value)) return true
    if (FIELDS[name]?.(value) === false) return true
  }
  return listSchemaErrors(schema, body).length > 0
}

export function mustRefuseParameter({ name, schema }: Parameter, text: string): boolean {
  if (!isClean(text) || text.length > LONGEST) return true
  if (PARAMETERS[name]?.(text) === false) return true
  if (schema.type !== 'integer') return listSchemaErrors(schema, text).length > 0
  return !/^\d{1,15}$/.test(text) || listSchemaErrors(schema, Number(text)).length > 0
}

/** Analytics filters and lists of ids may be repeated (docs/contract.md §1). Any other parameter is given once. */
export const mayRepeat = ({ name }: Parameter, operationId: string) =>
  name === 'ids' || name === 'tagId' || (ANALYTICS.includes(operationId) && !GIVEN_ONCE.includes(name))

const ANALYTICS = [
  'countClicks',
  'exportClicks',
  'listLinkClicks',
  'countLeads',
  'exportLeads',
  'getFunnel',
  'listMissingSlugs',
]
const GIVEN_ONCE = 'after interval start end timezone groupBy granularity limit format model currency'.split(
  ' ',
)
