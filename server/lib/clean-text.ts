// Text from strangers, made fit to store.

/** Of names that a database or a library gives: cities, browsers. */
export const DIMENSION_NAME_MAX = 128

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
