// Makes untrusted text fit for every store.

/** The longest name of a dimension that a database or a library gives, such as a city or a browser. */
export const DIMENSION_NAME_MAX = 128

/** Cuts a text to a bound, between characters. */
export function cutText(text: string, bound: number): string {
  if (text.length <= bound) return text
  const cut = text.slice(0, bound)
  const last = cut.charCodeAt(bound - 1)
  return last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut
}

/** By a loop: a pattern for what a text ends with begins anew at each such character in it. */
export function trimEnd(text: string, character: string): string {
  let end = text.length
  while (text[end - 1] === character) end--
  return text.slice(0, end)
}

export function trimBoth(text: string, character: string): string {
  let start = 0
  while (text[start] === character) start++
  return trimEnd(text.slice(start), character)
}

/** Cuts a text to a bound, without the characters that no engine stores (NUL, lone surrogates). '' becomes null. */
export function cleanText(text: string | null, bound: number): string | null {
  if (text === null || text === '') return null
  let kept = text.length > bound ? text.slice(0, bound) : text
  if (kept.includes('\0')) kept = kept.replaceAll('\0', '')
  if (!kept.isWellFormed()) kept = kept.replace(/\p{Surrogate}/gu, '')
  // Decoders drop a leading byte order mark later: two values that differ by it alone would look the same.
  if (kept.startsWith('\ufeff')) kept = kept.replace(/^\ufeff+/, '')
  return kept === '' ? null : kept
}
