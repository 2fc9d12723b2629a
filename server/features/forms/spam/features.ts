// The features of a submission that the classifier weighs: its words, links, domains, fields, timing and shape. Texts of
// any length give a bounded number of them.

import { isEmail } from '../../../lib/email.ts'
import { isAscii } from '../../../lib/text.ts'
import { findLinks } from './find-links.ts'
import { foldLetters } from './fold-words.ts'

export interface FeatureSource {
  fields: Map<string, string>
  /** Seconds between the page view and the submission; null where no snippet was on the page. */
  pageSeconds: number | null
}

/** Their names never leave the process; `toLabel` says them to people. */
export type Features = Set<string>

const FEATURES_MAX = 250
const FIELDS_MAX = 40
const FIELD_LETTERS = 5_000
const LETTERS = 20_000
const WORD_MIN = 2
const WORD_MAX = 30
const SHOWN_MAX = 40

const ASCII_LETTERS = /[A-Za-z]+/g
const ASCII_CAPITALS = /[A-Z]+/g
const ASCII_WORD = /[a-z0-9][a-z0-9']*/g
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’]*/gu
/** Scripts without spaces between words: two adjacent letters count as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
const SCRIPTS = {
  Cyrillic: /\p{Script=Cyrillic}/gu,
  Chinese: /\p{Script=Han}/gu,
  Arabic: /\p{Script=Arabic}/gu,
} as const
const MARKUP = /<a\s|\[url|\[link/i

export function readFeatures({ fields, pageSeconds }: FeatureSource): Features {
  const features: Features = new Set()
  const add = (name: string) => {
    if (features.size < FEATURES_MAX) features.add(name)
  }
  addTiming(add, pageSeconds)
  const texts: string[] = []
  let room = LETTERS
  let links = 0
  for (const [name, value] of [...fields].slice(0, FIELDS_MAX)) {
    if (value.trim() === '') continue
    add(`field:${name}`)
    const address = value.trim()
    if (isEmail(address)) {
      // The part before the @ is a person's, and teaches nothing.
      add(`from:${address.slice(address.lastIndexOf('@') + 1).toLowerCase()}`)
      continue
    }
    const text = value.slice(0, Math.min(FIELD_LETTERS, room))
    room -= text.length
    const without = takeLinks(text, add)
    links += without.links
    texts.push(without.text)
  }
  const text = texts.join('\n')
  add(`links:${links > 5 ? 'more than 5' : links}`)
  addShape(add, text)
  addWords(add, text)
  return features
}

type Add = (name: string) => void

const TIMINGS = [3, 10, 30, 120, 900] as const

function addTiming(add: Add, pageSeconds: number | null) {
  const under = pageSeconds === null ? 'none' : TIMINGS.find((seconds) => pageSeconds < seconds)
  add(`timing:${under ?? 'long'}`)
}

/** @returns the text without its links, because most of their paths are random */
function takeLinks(text: string, add: Add): { text: string; links: number } {
  let links = 0
  let readUntil = 0
  const parts: string[] = []
  for (const { host, start, end } of findLinks(text)) {
    links++
    if (host !== '') add(`link:${host}`)
    parts.push(text.slice(readUntil, start))
    readUntil = end
  }
  return { text: [...parts, text.slice(readUntil)].join(' '), links }
}

function addShape(add: Add, text: string) {
  const ascii = isAscii(text)
  const letters = countIn(text, ascii ? ASCII_LETTERS : /\p{L}/gu)
  add(`size:${Math.ceil(Math.log2(text.length + 1))}`)
  for (const symbol of text.match(ascii ? /\$/g : /\p{Sc}/gu) ?? []) add(`symbol:${symbol}`)
  if (MARKUP.test(text)) add('markup')
  if (countIn(text, /!/g) >= 3) add('exclamations')
  if (letters < 20) return
  const capitals = countIn(text, ascii ? ASCII_CAPITALS : /\p{Lu}/gu)
  if (capitals > letters / 2) add('capitals')
  if (ascii) return
  for (const [name, script] of Object.entries(SCRIPTS))
    if (countIn(text, script) > letters / 4) add(`script:${name}`)
}

/** @param pattern matches one letter; a pattern for ASCII matches several at once, which is faster */
const countIn = (text: string, pattern: RegExp) =>
  (text.match(pattern) ?? []).reduce((sum, match) => sum + (pattern.unicode ? 1 : match.length), 0)

function addWords(add: Add, text: string) {
  const folded = foldLetters(text)
  const ascii = isAscii(folded)
  const hasDigits = /\d/.test(folded)
  for (const word of folded.match(ascii ? ASCII_WORD : WORD) ?? []) {
    if (!ascii && UNSPACED.test(word)) {
      for (let at = 0; at + 1 < Math.min(word.length, WORD_MAX * 10); at++)
        add(`word:${word.slice(at, at + 2)}`)
      continue
    }
    if (hasDigits && /\d.*\d.*\d/.test(word)) {
      // Such a number is a person's or a firm's: only its length is looked at.
      add(`digits:${Math.min(word.length, 8)}`)
      continue
    }
    if (word.length < WORD_MIN || word.length > WORD_MAX) continue
    add(`word:${word}`)
  }
}

/** The words for people. By the part of a name before its colon; they get the part after it. */
const LABELS: Record<string, (value: string) => string> = {
  field: (name) => `the field ${quoteShort(name)}`,
  from: (domain) => `an address at ${domain}`,
  link: (host) => `a link to ${host}`,
  links: (count) => (count === '0' ? 'no link' : `${count} ${count === '1' ? 'link' : 'links'}`),
  size: (size) => (size === '0' ? 'no text' : `about ${2 ** Number(size)} characters`),
  symbol: (symbol) => quoteShort(symbol),
  script: (script) => `${script} letters`,
  word: (word) => quoteShort(word),
  digits: (count) => `a number of ${count} digits`,
  timing: (time) => TIMING_LABELS[time] ?? `sent within ${time} seconds`,
  markup: () => 'markup of links',
  exclamations: () => 'three exclamation marks',
  capitals: () => 'mostly capital letters',
}
const TIMING_LABELS: Record<string, string> = {
  none: 'no page view',
  long: 'sent a quarter of an hour after the page',
}

export function toLabel(feature: string): string {
  const [, kind = '', value = ''] = /^([^:]*):?(.*)$/s.exec(feature) ?? []
  return LABELS[kind]?.(value) ?? feature
}

const quoteShort = (text: string) =>
  JSON.stringify(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text)
