// Pure rules for the slugs that are close to an unknown one. docs/adr/0045-missing-slugs.md has the reasons.

import { normalizeUnicode } from '../../../lib/text.ts'
import { countEdits } from './edit-distance.ts'

/** The characters that a typing mistake puts in the place of another. */
const LOWER_CASE = 'abcdefghijklmnopqrstuvwxyz0123456789-_./'
const UPPER_CASE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
/** Above this length, the variants with another character would be thousands. */
const TYPED_VARIANTS_MAX = 40
const SEPARATORS = ['-', '_', '.', '/', '']
/** Characters that people confuse on paper and on screens. */
const LOOK_ALIKES = [
  ['0', 'o'],
  ['1', 'l'],
  ['1', 'i'],
  ['l', 'i'],
] as const

/** In a short slug one other character makes another word. */
export function findMistakesMax(characters: number): number {
  if (characters < 3) return 0
  if (characters < 8) return 1
  return characters < 14 ? 2 : 3
}

/**
 * The slug keys that are one mistake away, or look the same: at most some thousand, and each can be looked up.
 * @param mistakesBefore leaves out typing mistakes at this character and behind it
 */
export function listVariants(
  slugKey: string,
  caseSensitive: boolean,
  mistakesBefore = Number.POSITIVE_INFINITY,
): string[] {
  const characters = Array.from(slugKey)
  const variants = new Set(listLookAlikes(slugKey))
  if (caseSensitive)
    for (const text of [slugKey.toLowerCase(), slugKey.toUpperCase(), capitalize(slugKey)]) variants.add(text)
  for (const text of listBeginnings(slugKey)) variants.add(text)
  if (findMistakesMax(characters.length) > 0)
    for (const text of listMistakes(characters, caseSensitive, mistakesBefore)) variants.add(text)
  variants.delete('')
  return [...variants]
}

const capitalize = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase()

function* listLookAlikes(slugKey: string) {
  yield withoutAccents(slugKey)
  yield slugKey.replaceAll('0', 'o').replaceAll('1', 'l')
  for (const [a, b] of LOOK_ALIKES) {
    yield slugKey.replaceAll(a, b)
    yield slugKey.replaceAll(b, a)
  }
  for (const separator of SEPARATORS) yield slugKey.replaceAll(/[-_./]+/g, separator)
}

/** `sale/2026/x` begins with `sale/2026` and `sale`. */
function* listBeginnings(slugKey: string) {
  for (const { index } of slugKey.matchAll(/[-_./]/g))
    if (index >= BEGINNING_MIN) yield slugKey.slice(0, index)
}
const BEGINNING_MIN = 3

function* listMistakes(characters: string[], caseSensitive: boolean, end: number) {
  const typed = caseSensitive ? LOWER_CASE + UPPER_CASE : LOWER_CASE
  for (let at = 0; at <= characters.length && at < end; at++) {
    const before = characters.slice(0, at).join('')
    const [one = '', other = ''] = characters.slice(at, at + 2)
    const after = characters.slice(at + 1).join('')
    yield before + after
    yield before + other + one + after.slice(other.length)
    if (characters.length > TYPED_VARIANTS_MAX) continue
    for (const character of typed) {
      yield before + character + after
      yield before + character + one + after
    }
  }
}

const withoutAccents = (text: string) =>
  normalizeUnicode(normalizeUnicode(text, 'NFD').replaceAll(/\p{M}/gu, ''), 'NFC')

/** Equal for texts that a reader takes for the same. */
const toLook = (text: string) =>
  withoutAccents(text.toLowerCase())
    .replaceAll(/[-_./]/g, '')
    .replaceAll('0', 'o')
    .replaceAll(/[1i]/g, 'l')

/** @returns the candidate that is closest, or undefined when none is close. The candidates have one order everywhere. */
export function pickClosest<Candidate extends { slugKey: string }>(
  slugKey: string,
  candidates: Candidate[],
): Candidate | undefined {
  const toRank = createRanking(slugKey)
  let best: { candidate: Candidate; rank: number[] } | undefined
  for (const candidate of candidates) {
    const rank = toRank(candidate.slugKey)
    if (rank && (!best || isBefore(rank, candidate, best.rank, best.candidate))) best = { candidate, rank }
  }
  return best?.candidate
}

/** A smaller rank is closer: first the same look, then mistakes, then one text that begins with the other. */
function createRanking(slugKey: string): (candidate: string) => number[] | undefined {
  const characters = Array.from(slugKey)
  const mistakesMax = findMistakesMax(characters.length)
  const look = toLook(slugKey)
  return (candidate) => {
    if (candidate === slugKey) return undefined
    // The beginning is seldom wrong.
    const after = -countSharedBeginning(slugKey, candidate)
    if (look !== '' && toLook(candidate) === look) return [0, after]
    const letters = Array.from(candidate)
    const mistakes = countEdits(characters, letters, mistakesMax)
    if (mistakes <= mistakesMax) return [mistakes, after]
    const isPart = beginsWithPart(slugKey, candidate) || beginsWithPart(candidate, slugKey)
    return isPart ? [mistakesMax + 1, Math.abs(letters.length - characters.length)] : undefined
  }
}

const beginsWithPart = (text: string, beginning: string) =>
  beginning.length >= BEGINNING_MIN &&
  text.startsWith(beginning) &&
  /[-_./]/.test(text[beginning.length] ?? '')

function countSharedBeginning(a: string, b: string): number {
  let shared = 0
  while (shared < a.length && a[shared] === b[shared]) shared++
  return shared
}

function isBefore(
  rank: number[],
  { slugKey }: { slugKey: string },
  bestRank: number[],
  best: { slugKey: string },
): boolean {
  for (const [n, value] of rank.entries()) {
    const other = bestRank[n] ?? 0
    if (value !== other) return value < other
  }
  return slugKey < best.slugKey
}
