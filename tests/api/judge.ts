// What must be refused: by the document where it says so, else by the contract's own words, restated here apart from
// the code that is tested.

import { type Parameter, type Schema, violations } from './document.ts'
import { BAD_URLS } from './hostile.ts'

export const isClean = (text: string) => !text.includes('\0') && text.isWellFormed()

/** The longest text the contract has is a URL; nothing that is asked about can be longer. */
const LONGEST = 8192

const none = () => false
const ids = /^\d{1,15}(,\d{1,15})*$/

/** Texts with a meaning that the document's words (length, form, list) do not give: the name, and what is good. */
const FIELDS: Record<string, (text: string) => boolean> = {
  slug: (text) => /^[\p{L}\p{M}\p{N}._-]{1,190}$/u.test(text.normalize('NFC')),
  // Nothing in the pools of hostile.ts is a short domain of the workspace.
  domain: none,
  name: (text) => text.trim() !== '',
}

const PARAMETERS: Record<string, (text: string) => boolean> = {
  cursor: none,
  start: (text) => Number.isFinite(Date.parse(text)),
  end: (text) => Number.isFinite(Date.parse(text)),
  timezone: none,
  ids: (text) => ids.test(text),
  tagId: (text) => ids.test(text.replace(/^-/, '')),
  linkId: (text) => ids.test(text.replace(/^-/, '')),
  trigger: none,
  class: none,
  // Nothing in the pools is the name of the workspace.
  confirm: none,
}

/** @param body the whole body with the value in it, as the server reads it */
export function bodyIsBad(schema: Schema, body: unknown, name: string, value: unknown): boolean {
  if (typeof value === 'string') {
    if (!isClean(value) || BAD_URLS.includes(value)) return true
    if (FIELDS[name]?.(value) === false) return true
  }
  return violations(schema, body).length > 0
}

export function parameterIsBad({ name, schema }: Parameter, text: string): boolean {
  if (!isClean(text) || text.length > LONGEST) return true
  if (PARAMETERS[name]?.(text) === false) return true
  if (schema.type !== 'integer') return violations(schema, text).length > 0
  return !/^\d{1,15}$/.test(text) || violations(schema, Number(text)).length > 0
}

/** Analytics filters and lists of ids: "a repeated parameter means any of" (contract §5). Any other is given once. */
export const mayRepeat = ({ name }: Parameter, operationId: string) =>
  name === 'ids' || name === 'tagId' || (ANALYTICS.includes(operationId) && !GIVEN_ONCE.includes(name))

const ANALYTICS = ['countClicks', 'exportClicks', 'countLeads', 'getFunnel']
const GIVEN_ONCE = [
  'interval',
  'start',
  'end',
  'timezone',
  'groupBy',
  'granularity',
  'limit',
  'format',
  'model',
]
