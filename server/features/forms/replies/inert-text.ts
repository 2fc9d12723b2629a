// Makes sender's text harmless in an email: short, on one line, and without anything that mail programs turn into a
// link.

import { normalizeUnicode } from '../../../lib/text.ts'

/** More than a mail shows of a value, so that removed links leave the words after them. */
const READ_MAX = 1_000
/** Controls, surrogates, private and invisible characters: they hide links, or reverse the text around them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu
const MARKUP = /<[^<>]*>|[<>]/g
const DOTS = /[\u3002\uff0e\uff61]/g

/** A character of a host name: some registries take nearly everything that is no punctuation of ASCII. */
const HOST = '[^\\0-,./:-@[-^`{-\\x7f]'
const LINKS = [
  // `https:…`, `javascript:…`, and every other scheme; not `16:30`.
  /[a-z][\d+.-]{0,16}:\S/i,
  /[/\\]{2}/,
  /www\./i,
  /@/,
  // `evil.example`, and the same before a path or a port. No top-level domain begins with a digit, or has one letter of ASCII.
  new RegExp(`${HOST}\\.(?![\\d-])(?:${HOST}{2}|[^\\0-\\x7f\\p{P}\\p{S}])`, 'u'),
  // An IPv4 address.
  /\d\.\d+\.\d+\.\d/,
  // An encoded word of a header (RFC 2047), which a mail program shows decoded.
  /=\?/,
  // Markdown.
  /\]\s*[([]/,
]

/** @param text without white space, in the form of `normalizeText` */
export const isLink = (text: string): boolean => LINKS.some((link) => link.test(text))

/** One line. Full-width letters and the dots of other alphabets become those that mail programs know. */
export const normalizeText = (text: string): string =>
  normalizeUnicode(text.toWellFormed().replace(/\s+/gu, ' ').replace(UNSEEN, ''), 'NFKC')
    .replace(DOTS, '.')
    .replace(UNSEEN, '')
    .replace(/\s+/gu, ' ')
    .trim()

/** Never cuts through a character. */
export const cutCharacters = (text: string, max: number): string =>
  text.length <= max ? text : [...text].slice(0, max).join('').trimEnd()

/** @returns at most `max` characters of the text, without the words that are links or hold one */
export function toInertText(text: string, max: number): string {
  const words = normalizeText(text.slice(0, READ_MAX)).replace(MARKUP, ' ').split(' ')
  const kept = words.filter((word) => word !== '' && !isLink(word))
  return cutCharacters(kept.join(' '), max)
}
