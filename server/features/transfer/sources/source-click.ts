// Creates clicks of sources. Values that a tool does not have are unknown.

import type { FieldReader } from '../files/fields.ts'
import type { NewClick, ReadingOptions, SourceClick } from './source.ts'

/** The members of a click about which only the time is known. */
export const UNKNOWN_CLICK: Omit<SourceClick, 'at'> = {
  sourceKey: null,
  host: null,
  slug: null,
  address: null,
  userAgent: null,
  referrer: null,
  country: null,
  region: null,
  city: null,
  browser: null,
  os: null,
  device: null,
  bot: null,
  trigger: 'link',
  visitedUrl: null,
  destinationUrl: null,
}

/**
 * The address is used only without a country. A tool's country is more accurate, because it looked the address up at the time
 * of the click.
 */
export const createSourceClick = (click: NewClick): SourceClick => ({
  ...UNKNOWN_CLICK,
  ...click,
  address: click.country ? null : (click.address ?? null),
})

/** Reads the time of a click; 0 and a problem if it is missing. */
export function readClickTime(fields: FieldReader, options: ReadingOptions, name: string): number {
  const known = fields.problems.length
  const at = fields.time(options, name)
  if (at === null && fields.problems.length === known)
    fields.add(name, fields.raw(name), 'The click has no time. Write it here.')
  return at ?? 0
}

/** Values that tools write for unknown. */
const UNKNOWN_WORDS = new Set(['unknown', 'others', 'direct', '(direct)', '-'])
const UNKNOWN_LENGTH = Math.max(...[...UNKNOWN_WORDS].map(({ length }) => length))

/** @returns null for a word that means unknown */
export const toKnown = (text: string | null) =>
  // Lowercasing each user agent would take a tenth of the time per click.
  text === null || (text.length <= UNKNOWN_LENGTH && UNKNOWN_WORDS.has(text.toLowerCase())) ? null : text
