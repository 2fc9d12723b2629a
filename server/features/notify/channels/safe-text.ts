// Makes untrusted text safe for another program to show: no control characters, and no longer than the program allows.
// No function here fails because a text is long.

import { formatBytes } from '../../../lib/formats/format-bytes.ts'
import type { Notice, NoticeLayout } from './contract.ts'

export const OPEN_LABEL = 'Open in Towpath'
export const CUT_MARK = '… (open in Towpath)'

// Stands for an empty text, because services refuse messages with empty texts.
const EMPTY = '–'

// The characters that break a line in at least one program.
const BREAKS = /\r\n?|[\v\f\x85\u2028\u2029]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters to remove
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x9f]/g
// Embeddings, overrides and isolates reorder the text after them: they can show "evil.com" as "moc.live".
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g
const MARKS = /[\u061c\u200e\u200f]/g

/** Keeps line breaks as `\n`, and removes all other control and reordering characters. */
export const removeControlCharacters = (text: string) =>
  text
    .toWellFormed()
    .replace(BREAKS, '\n')
    .replaceAll('\t', ' ')
    .replace(CONTROLS, '')
    .replace(REORDERING, '')

/** As `removeControlCharacters`, on one line. Removes direction marks too, because the line may hold other text. */
export const toOneLine = (text: string) =>
  removeControlCharacters(text).replace(MARKS, '').replace(/\s+/g, ' ').trim()

/** How much of the limit a character uses, its escapes included. */
export type CharacterCost = (character: string) => number

const utf16Length: CharacterCost = (character) => character.length

export const utf8Length: CharacterCost = (character) => {
  const code = character.codePointAt(0) ?? 0
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}

/** The length of the character in JSON. */
export const jsonLength: CharacterCost = (character) => (/["\\\n]/.test(character) ? 2 : character.length)

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** @param characters those of `&<>"` that the service requires as entities, as a global expression */
export const escapeEntities = (text: string, characters: RegExp) =>
  text.replace(characters, (character) => ENTITIES[character] ?? '')

/** @returns at most `max`: the sum stops there */
export function sumCost(text: string, cost: CharacterCost, max = Number.POSITIVE_INFINITY): number {
  let sum = 0
  for (const character of text) {
    sum += cost(character)
    if (sum >= max) return max
  }
  return sum
}

/** Cuts `text` to `max` and puts a mark at the end of a cut text. Never cuts through a character. */
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
    // When not even the mark fits, the text is cut without one.
    if (sum <= (room < 0 ? max : room)) keep = at
  }
  return text
}

export interface FieldLimits {
  /** How many fields to show at most. */
  fields: number
  /** The highest cost of a name, of a value, and of all fields together. */
  name: number
  value: number
  total: number
  /** The cost of a field besides its name and value. */
  each: number
  cost?: CharacterCost
}

export interface FittedFields {
  /** Names and values in the order of the form; never an empty text. */
  shown: [name: string, value: string][]
  /** How many fields did not fit. */
  omitted: number
}

/** A shorter piece of a value is useless: omit fields instead. */
const PIECE_MIN = 64

/** Cuts the long fields so that the short ones fit too. When that is not enough, omits the last fields. */
export function fitFields(
  fields: ReadonlyMap<string, string>,
  limits: FieldLimits,
  labels?: ReadonlyMap<string, string>,
): FittedFields {
  const { cost = utf16Length } = limits
  const clean = [...fields].slice(0, limits.fields).map(([name, value]) => {
    const texts = {
      name: toOneLine(labels?.get(name) ?? name) || EMPTY,
      value: removeControlCharacters(value).trim() || EMPTY,
    }
    return {
      ...texts,
      nameCost: sumCost(texts.name, cost, limits.name),
      valueCost: sumCost(texts.value, cost, limits.value),
    }
  })
  type CleanField = (typeof clean)[number]
  const fieldCost = ({ nameCost, valueCost }: CleanField, piece: number) =>
    limits.each + Math.min(nameCost, piece) + Math.min(valueCost, piece)
  const totalCost = (piece: number) => clean.reduce((sum, field) => sum + fieldCost(field, piece), 0)

  // Finds the longest piece for which all fields fit.
  let piece = PIECE_MIN
  for (let step = 2 ** 16; step >= 1; step /= 2) {
    if (totalCost(piece + step) <= limits.total) piece += step
  }
  let total = totalCost(piece)
  while (total > limits.total) total -= fieldCost(clean.pop() as CleanField, piece)
  const shown = clean.map(({ name, value }): [string, string] => [
    truncateText(name, Math.min(limits.name, piece), '…', cost),
    truncateText(value, Math.min(limits.value, piece), CUT_MARK, cost),
  ])
  return { shown, omitted: fields.size - shown.length }
}

/**
 * The fields of a notification. Submissions that a digest does not list count as omitted.
 * @returns `omitted`: such as `… 3 more fields`, or '' where all are shown
 */
export function fitNotice(
  notice: Notice,
  limits: FieldLimits,
): { shown: FittedFields['shown']; omitted: string } {
  const { fields, labels, total = 0 } = notice
  const { shown, omitted } = fitFields(fields, limits, labels)
  const count = omitted + Math.max(0, total - fields.size)
  return { shown, omitted: count === 0 ? '' : formatOmitted(notice, count) }
}

function formatOmitted({ event }: Notice, count: number): string {
  const noun = event === 'submission.digest' ? 'submission' : 'field'
  return `… ${count} more ${count === 1 ? noun : `${noun}s`}`
}

/** More than any notification omits: for the room that the words need. */
export const formatMostOmitted = (notice: Notice) => formatOmitted(notice, 999_999)

/** The first line of a message. */
export const formatHeadline = ({ event, form, layout, total }: Notice) =>
  layout?.subject ?? `${total ?? ''}${HEADLINES[event] ?? event} ${toOneLine(form.name)}`

/** Other events go to programs alone. */
const HEADLINES: Partial<Record<Notice['event'], string>> = {
  'submission.created': 'New submission to',
  'submission.digest': ' new submissions to',
  'channel.disabled': 'Switched off:',
  'channel.behind': 'Falls behind:',
  'view.report': 'Report:',
  'view.alert': 'Alert:',
  test: 'Test notification for',
}

/** The line of a message before the link; '' where the attribution is unknown, or the owner's layout has it. */
export const formatAttribution = (
  { attribution, layout }: Pick<Notice, 'attribution' | 'layout'>,
  max: number,
  cost?: CharacterCost,
) => (layout?.hasAttribution ? '' : truncateText(toOneLine(attribution), max, '…', cost))

/** The text of the owner's layout, as plain text. @param max the most that it may cost */
export const fitLayout = (layout: NoticeLayout, max: number, cost: CharacterCost = utf16Length) =>
  layout.render(max, cost).trim() || EMPTY

export const DOWNLOAD_LABEL = 'Download'
const FILE_NAME_MAX = 100
const FILES_MAX = 5

export interface ListedFile {
  /** Untrusted text on one line, with the size: `plan.pdf (1.5 MB)`. */
  name: string
  /** Ours. */
  url: string
}

/**
 * The files that a message names: a few, because messages are short.
 * @returns at most FILES_MAX files, and how many more there are
 */
export function listNoticeFiles({ files = [] }: Pick<Notice, 'files'>): {
  listed: ListedFile[]
  more: string
} {
  const listed = files.slice(0, FILES_MAX).map(({ name, bytes, url }) => ({
    name: `${truncateText(toOneLine(name), FILE_NAME_MAX) || 'file'} (${formatBytes(bytes)})`,
    url,
  }))
  const rest = files.length - listed.length
  return { listed, more: rest === 0 ? '' : `… ${rest} more ${rest === 1 ? 'file' : 'files'}` }
}
