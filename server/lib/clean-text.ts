// Parts of a hit that many hits share, as the piece of JSON that each of their lines has.

import { toUtf8 } from '../features/hits/batches/ndjson-line.ts'
import type { Hit } from '../storage/hits/hit.ts'

/** Of names that a database or a library gives: cities, browsers. */
export const DIMENSION_NAME_MAX = 128

/** `,"country":"US","city":"…"`, without what is null. */
export function toJsonPart(fields: Partial<Hit>): Uint8Array {
  let json = ''
  for (const [name, value] of Object.entries(fields))
    if (value !== null) json += `,"${name}":${JSON.stringify(value)}`
  return toUtf8(json)
}

/** Cut to a bound, without what no engine stores (NUL, lone surrogates); nothing is null. */
export function cleanText(text: string | null, bound: number): string | null {
  if (text === null || text === '') return null
  let kept = text.length > bound ? text.slice(0, bound) : text
  if (kept.includes('\0')) kept = kept.replaceAll('\0', '')
  if (!kept.isWellFormed()) kept = kept.replace(/\p{Surrogate}/gu, '')
  // A byte order mark says nothing, and decoders on the way back out take it away: two values would look the same.
  if (kept.startsWith('\ufeff')) kept = kept.replace(/^\ufeff+/, '')
  return kept === '' ? null : kept
}
