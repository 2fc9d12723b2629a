// Cuts and cleans untrusted text, so that every database can store it.

/** Maximum length of a name from a GeoIP database or a user-agent parser, such as a city or a browser. */
export const DIMENSION_NAME_MAX = 128

/** Cuts a text to a maximum length, without splitting a surrogate pair. */
export function cutText(text: string, bound: number): string {
  if (text.length <= bound) return text
  const cut = text.slice(0, bound)
  const last = cut.charCodeAt(bound - 1)
  return last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut
}

/** A loop, because a regular expression such as /x+$/ takes quadratic time on long runs of the character. */
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

/** Characters that nobody sees, such as a zero-width space, and blanks. */
const INVISIBLE = /[\s\p{Cf}]/u

/** The text without invisible characters at its ends; '' if it has no others. */
export function trimInvisible(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && INVISIBLE.test(text[start] as string)) start++
  while (end > start && INVISIBLE.test(text[end - 1] as string)) end--
  return text.slice(start, end)
}

/**
 * Cuts a text to a maximum length, without characters that no engine can store (NUL, lone surrogates). '' becomes
 * null.
 */
export function cleanText(text: string | null, bound: number): string | null {
  if (text === null || text === '') return null
  let kept = text.length > bound ? text.slice(0, bound) : text
  if (kept.includes('\0')) kept = kept.replaceAll('\0', '')
  if (!kept.isWellFormed()) kept = kept.replace(/\p{Surrogate}/gu, '')
  // A decoder would drop a leading byte order mark later: two stored values would then look the same.
  if (kept.startsWith('\ufeff')) kept = kept.replace(/^\ufeff+/, '')
  return kept === '' ? null : kept
}
