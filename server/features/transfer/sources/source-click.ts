// Makes clicks of sources: what a tool does not say is unknown.

import type { FieldReader } from '../files/fields.ts'
import type { ReadingOptions, SourceClick } from './source.ts'

/** A click of which nothing is known but its time. */
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
 * The address is for a click without a country. A tool that has one looked the address up when the click was made, which is
 * right for longer: addresses move.
 */
export const createSourceClick = (click: Partial<SourceClick> & Pick<SourceClick, 'at'>): SourceClick => ({
  ...UNKNOWN_CLICK,
  ...click,
  address: click.country ? null : (click.address ?? null),
})

/** The time of a click, without which it is none: 0 and a problem where it is not there. */
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

/** @returns null for a word that says that the tool does not know */
export const toKnown = (text: string | null) =>
  // Lower case of each user agent would take a tenth of the time that a click takes.
  text === null || (text.length <= UNKNOWN_LENGTH && UNKNOWN_WORDS.has(text.toLowerCase())) ? null : text
