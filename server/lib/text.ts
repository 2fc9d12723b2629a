// Checks and folds untrusted text.

/** A clean text has no NUL (PostgreSQL cannot store it) and no lone surrogate (UTF-8 cannot hold one). */
export const isCleanText = (text: string) => !text.includes('\0') && text.isWellFormed()

/** Counts as readers and JSON Schema do: a character outside the basic plane counts once, not twice. */
export function countCharacters(text: string): number {
  // A loop, because an array of the characters of a megabyte would block the event loop for 20 ms.
  let count = text.length
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue
    count--
    at++
  }
  return count
}

/**
 * For matching without regard to case or composition. NFC comes last, because "J̌" has no composed form and its lower
 * case "ǰ" has one. "ς" is the form of "σ" at the end of a word, not another letter.
 */
export const foldCase = (text: string) =>
  isAscii(text) ? text.toLowerCase() : normalizeUnicode(text.toLowerCase().replaceAll('ς', 'σ'), 'NFC')

/** Marks that stand on a letter, in alphabets where people leave them out. Not those of kana and of Indic vowels. */
const OPTIONAL_MARKS = /(?![\u3099\u309a])[\p{Script=Inherited}\p{Script=Hebrew}](?<=\p{M})/gu
/** Letters that have no mark in Unicode, as people write them without one. */
const PLAIN_LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  ŋ: 'n',
}
const LETTERS_TO_PLAIN = new RegExp(`[${Object.keys(PLAIN_LETTERS).join('')}]`, 'g')

/** For searches: as `foldCase`, and without marks, so that "zurich" finds "Zürich". */
export const foldMarks = (text: string) =>
  isAscii(text)
    ? text.toLowerCase()
    : normalizeUnicode(
        normalizeUnicode(foldCase(text), 'NFD')
          .replace(OPTIONAL_MARKS, '')
          .replace(LETTERS_TO_PLAIN, (letter) => PLAIN_LETTERS[letter] ?? letter),
        'NFC',
      )

const ASCII = /^[\0-\x7f]*$/

/** A fast check: most texts are ASCII, and Unicode checks take several times as long. */
export const isAscii = (text: string) => ASCII.test(text)

/** A mark that another mark follows, 30 times. Two letters become marks in a compatible form: U+FF9E and U+FF9F. */
const LONG_RUN_OF_MARKS = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu
/** U+034F, the combining grapheme joiner: it is invisible, and no mark moves across it. */
const JOINER = '\u034f'

/**
 * The only place that may call `String.normalize`, which takes quadratic time for a run of combining marks: 40,000 of
 * them block the thread for seconds. A joiner after each 30 marks ends that, as Unicode's Stream-Safe Text Format
 * says (https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format). No language writes more on one letter.
 */
export const normalizeUnicode = (text: string, form: 'NFC' | 'NFD' | 'NFKC') =>
  text.replace(LONG_RUN_OF_MARKS, `$&${JOINER}`).normalize(form)

/** @returns the text unchanged if it is not percent-encoded UTF-8, such as a lone "%" */
export function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * A copy of a text for a cache. A substring would keep the whole request in memory in JavaScriptCore. Lone surrogates
 * are preserved, so the copy equals the text.
 */
export function copyText(text: string): string {
  const encoding = isAscii(text) ? 'latin1' : 'utf16le'
  return Buffer.from(text, encoding).toString(encoding)
}

/** Quotes text of a stranger for a message, with at most 100 characters. */
export const quote = (text: string) => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
