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

/** By their names, which never leave the process; `toLabel` says them to people. */
export type Features = Map<string, string>

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
  const features: Features = new Map()
  const add = (name: string, label: string) => {
    if (features.size < FEATURES_MAX) features.set(name, label)
  }
  addTiming(add, pageSeconds)
  const texts: string[] = []
  let room = LETTERS
  let links = 0
  for (const [name, value] of [...fields].slice(0, FIELDS_MAX)) {
    if (value.trim() === '') continue
    add(`field:${name}`, `the field ${quoteShort(name)}`)
    const address = value.trim()
    if (isEmail(address)) {
      // The part before the @ is a person's, and teaches nothing.
      const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase()
      add(`from:${domain}`, `an address at ${domain}`)
      continue
    }
    const text = value.slice(0, Math.min(FIELD_LETTERS, room))
    room -= text.length
    const without = takeLinks(text, add)
    links += without.links
    texts.push(without.text)
  }
  const text = texts.join('\n')
  const several = links > 5 ? 'more than 5' : String(links)
  add(`links:${several}`, links === 0 ? 'no link' : `${several} ${links === 1 ? 'link' : 'links'}`)
  addShape(add, text)
  addWords(add, text)
  return features
}

type Add = (name: string, label: string) => void

const TIMINGS = [3, 10, 30, 120, 900] as const

function addTiming(add: Add, pageSeconds: number | null) {
  if (pageSeconds === null) return add('timing:none', 'no page view')
  const under = TIMINGS.find((seconds) => pageSeconds < seconds)
  if (under === undefined) add('timing:long', 'sent a quarter of an hour after the page')
  else add(`timing:${under}`, `sent within ${under} seconds`)
}

/** @returns the text without its links, because most of their paths are random */
function takeLinks(text: string, add: Add): { text: string; links: number } {
  let links = 0
  let readUntil = 0
  const parts: string[] = []
  for (const { host, start, end } of findLinks(text)) {
    links++
    if (host !== '') add(`link:${host}`, `a link to ${host}`)
    parts.push(text.slice(readUntil, start))
    readUntil = end
  }
  return { text: [...parts, text.slice(readUntil)].join(' '), links }
}

function addShape(add: Add, text: string) {
  const ascii = isAscii(text)
  const letters = countIn(text, ascii ? ASCII_LETTERS : /\p{L}/gu)
  const size = Math.ceil(Math.log2(text.length + 1))
  add(`size:${size}`, size === 0 ? 'no text' : `about ${2 ** size} characters`)
  for (const symbol of text.match(ascii ? /\$/g : /\p{Sc}/gu) ?? [])
    add(`symbol:${symbol}`, quoteShort(symbol))
  if (MARKUP.test(text)) add('markup', 'markup of links')
  if (countIn(text, /!/g) >= 3) add('exclamations', 'three exclamation marks')
  if (letters < 20) return
  const capitals = countIn(text, ascii ? ASCII_CAPITALS : /\p{Lu}/gu)
  if (capitals > letters / 2) add('capitals', 'mostly capital letters')
  if (ascii) return
  for (const [name, script] of Object.entries(SCRIPTS))
    if (countIn(text, script) > letters / 4) add(`script:${name}`, `${name} letters`)
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
        add(`word:${word.slice(at, at + 2)}`, quoteShort(word.slice(at, at + 2)))
      continue
    }
    if (hasDigits && /\d.*\d.*\d/.test(word)) {
      // Such a number is a person's or a firm's: only its length is looked at.
      add(`digits:${Math.min(word.length, 8)}`, `a number of ${Math.min(word.length, 8)} digits`)
      continue
    }
    if (word.length < WORD_MIN || word.length > WORD_MAX) continue
    add(`word:${word}`, '')
  }
}

/** A word's label is made where it is shown: most words are not. */
export const toLabel = (name: string, label: string) =>
  label === '' ? quoteShort(name.slice('word:'.length)) : label

const quoteShort = (text: string) =>
  JSON.stringify(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text)
