// Folds a text to words between single spaces, in which letters that look alike to Unicode are equal.

import { foldCase, isAscii, normalizeUnicode } from '../../../lib/text.ts'

/** Invisible characters, which spam puts into the middle of words. */
const INVISIBLE = /\p{Cf}/gu
/** A symbol is a separate word: `100%` is `100 %`, and `$$$` is found in `$$$$`. */
const SYMBOLS = /[\p{S}%#@&]/gu
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}\p{S}%#@&]+/gu
/** The same two for ASCII. */
const ASCII_SYMBOLS = /[$+<=>^`|~%#@&]/g
const BETWEEN_ASCII_WORDS = /[^A-Za-z0-9$+<=>^`|~%#@&]+/g
/** For a rule, where `*` matches letters. */
const BETWEEN_WORDS_OF_RULE = /[^\p{L}\p{N}\p{M}\p{S}%#@&*]+/gu

/** One character may have a compatible form of 18 letters. Such a text keeps its own. */
const GROWTH_MAX = 2

/** `NFKC` makes wide, round and mathematical letters the plain ones (https://unicode.org/reports/tr15/). */
export function foldLetters(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  const compatible = normalizeUnicode(text, 'NFKC')
  return foldCase((compatible.length <= text.length * GROWTH_MAX ? compatible : text).replace(INVISIBLE, ''))
}

const toWords = (text: string, symbols: RegExp, between: RegExp) =>
  ` ${foldLetters(text).replace(symbols, ' $& ').replace(between, ' ')} `.replace(/ {2,}/g, ' ')

export const foldWords = (text: string) =>
  isAscii(text) ? toWords(text, ASCII_SYMBOLS, BETWEEN_ASCII_WORDS) : toWords(text, SYMBOLS, BETWEEN_WORDS)

/** @returns the pattern of a rule; '' where it has no letter */
export function toWordPattern(rule: string): string {
  const words = toWords(rule, SYMBOLS, BETWEEN_WORDS_OF_RULE).replace(/\*+/g, '*')
  return /[^ *]/.test(words) ? words.replace(/^ \*/, '').replace(/\* $/, '') : ''
}
