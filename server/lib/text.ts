// Text as it arrives from strangers.

/** Neither NUL (PostgreSQL cannot store it) nor half a surrogate pair (nobody can). */
export const isCleanText = (text: string) => !text.includes('\0') && text.isWellFormed()

/** As readers and JSON Schema count: a character outside the basic plane is one, not two. */
export const countCharacters = (text: string) => [...text].length

/**
 * For matching without regard to case or composition. NFC comes last, since "J̌" has no composed form and its lower
 * case "ǰ" has one; the final sigma is how "Σ" is written at the end of a word, not another letter.
 */
export const foldCase = (text: string) =>
  ASCII.test(text) ? text.toLowerCase() : text.toLowerCase().replaceAll('ς', 'σ').normalize('NFC')

const ASCII = /^[\0-\x7f]*$/

/** Percent-decoded, as far as it can be. */
export function percentDecode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // A lone "%": it is what it is.
    return part
  }
}
