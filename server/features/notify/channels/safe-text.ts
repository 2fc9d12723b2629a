// A stranger's text made fit to be shown by somebody else's program: nothing in it that acts, and no more of it than
// there is room for. Nothing here fails because a text is long.

import type { Notice } from './contract.ts'

export const OPEN_LABEL = 'Open in Towpath'
const CUT_MARK = '… (open in Towpath)'

// A dash: services refuse messages with empty texts.
const EMPTY = '–'

// Everything that breaks a line somewhere.
const BREAKS = /\r\n?|[\v\f\x85\u2028\u2029]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x9f]/g
// Embeddings, overrides and isolates: they reorder what follows them, and can make "moc.live" of "evil.com".
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g
const MARKS = /[\u061c\u200e\u200f]/g

/** Lines of text, and no character that only acts. */
export const removeControlCharacters = (text: string) =>
  text
    .toWellFormed()
    .replace(BREAKS, '\n')
    .replaceAll('\t', ' ')
    .replace(CONTROLS, '')
    .replace(REORDERING, '')

/** The same on one line, which shares its direction with what else is on it. */
export const toOneLine = (text: string) =>
  removeControlCharacters(text).replace(MARKS, '').replace(/\s+/g, ' ').trim()

/** What the service counts a character as, escapes and all. */
export type CharacterCost = (character: string) => number

const utf16Length: CharacterCost = (character) => character.length

export const utf8Length: CharacterCost = (character) => {
  const code = character.codePointAt(0) ?? 0
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}

/** As JSON has it. */
export const jsonLength: CharacterCost = (character) => (/["\\\n]/.test(character) ? 2 : character.length)

/** At most `max`: what is longer is not looked at further. */
function sumCost(text: string, cost: CharacterCost, max = Number.POSITIVE_INFINITY): number {
  let sum = 0
  for (const character of text) {
    sum += cost(character)
    if (sum >= max) return max
  }
  return sum
}

/** As much of `text` as `max` has room for, with a mark where that is not all. Characters stay whole. */
export function truncateText(
  text: string,
  max: number,
  mark = '…',
  cost: CharacterCost = utf16Length,
): string {
  const room = max - sumCost(mark, cost)
  let sum = 0
  let at = 0
  let keep = 0
  for (const character of text) {
    sum += cost(character)
    if (sum > max) return room < 0 ? text.slice(0, keep) : text.slice(0, keep).trimEnd() + mark
    at += character.length
    // Without room for the mark, what fits is kept bare.
    if (sum <= (room < 0 ? max : room)) keep = at
  }
  return text
}

export interface FieldLimits {
  /** The most fields, names and values, in what the service counts. */
  fields: number
  name: number
  value: number
  total: number
  /** What a field costs besides its name and value. */
  each: number
  cost?: CharacterCost
}

export interface FittedFields {
  /** Name and value, in the sender's order; never empty. */
  shown: [name: string, value: string][]
  /** How many fields had no room. */
  omitted: number
}

// Below this a piece of a value says nothing; fields are left out instead.
const PIECE_MIN = 64

/** The fields, the long ones cut so that the short ones have room too; if all that is not enough, the first of them. */
export function fitFields(fields: ReadonlyMap<string, string>, room: FieldLimits): FittedFields {
  const { cost = utf16Length } = room
  const clean = [...fields].slice(0, room.fields).map(([name, value]) => {
    const texts = { name: toOneLine(name) || EMPTY, value: removeControlCharacters(value).trim() || EMPTY }
    return {
      ...texts,
      nameCost: sumCost(texts.name, cost, room.name),
      valueCost: sumCost(texts.value, cost, room.value),
    }
  })
  type Clean = (typeof clean)[number]
  const sizeOf = (one: Clean, piece: number) =>
    room.each + Math.min(one.nameCost, piece) + Math.min(one.valueCost, piece)
  const sizeOfAll = (piece: number) => clean.reduce((sum, one) => sum + sizeOf(one, piece), 0)

  let piece = PIECE_MIN
  // The longest piece for which all fits.
  for (let step = 2 ** 16; step >= 1; step /= 2) {
    if (sizeOfAll(piece + step) <= room.total) piece += step
  }
  let size = sizeOfAll(piece)
  while (size > room.total) size -= sizeOf(clean.pop() as Clean, piece)
  const shown = clean.map(({ name, value }): [string, string] => [
    truncateText(name, Math.min(room.name, piece), '…', cost),
    truncateText(value, Math.min(room.value, piece), CUT_MARK, cost),
  ])
  return { shown, omitted: fields.size - shown.length }
}

export const formatOmittedFields = (more: number) => `… ${more} more ${more === 1 ? 'field' : 'fields'}`

/** What a message begins with. */
export const formatHeadline = ({ event, form }: Notice) => `${HEADLINES[event]} ${toOneLine(form.name)}`

const HEADLINES: Record<Notice['event'], string> = {
  'submission.created': 'New submission to',
  'channel.disabled': 'Switched off:',
  test: 'Test notification for',
}

/** What a message ends with, before the link; '' where nothing is known. */
export const formatAttribution = ({ attribution }: Notice, max: number, cost?: CharacterCost) =>
  truncateText(toOneLine(attribution), max, '…', cost)
