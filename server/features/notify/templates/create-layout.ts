// Puts the values of a notification into the template of its channel. The result is plain text: each service escapes it as
// a whole, so no value acts in it.

import type { Notice, NoticeLayout } from '../channels/contract.ts'
import {
  type CharacterCost,
  CUT_MARK,
  listNoticeFiles,
  removeControlCharacters,
  sumCost,
  toOneLine,
  truncateText,
} from '../channels/safe-text.ts'
import type { ChannelTemplate } from '../schema.ts'
import { parseTemplate, type TemplatePart } from './parse-template.ts'

type LayoutValues = Pick<Notice, 'form' | 'fields' | 'labels' | 'files' | 'attribution' | 'url'>

/** In a subject. */
const VALUE_MAX = 100
const SUBJECT_MAX = 250
/** In a text. */
const ATTRIBUTION_MAX = 400
const TEXT_VALUE_MAX = 20_000

/** @param template as a channel stores it */
export function createLayout(template: ChannelTemplate, values: LayoutValues): NoticeLayout {
  const parts = parseTemplate(template.text)
  const has = (name: string) => parts.some((part) => part.kind === 'placeholder' && part.name === name)
  return {
    subject: template.subject === null ? null : renderSubject(parseTemplate(template.subject), values),
    render: (max, cost) => renderText(parts, values, max, cost),
    hasAttribution: has('attribution'),
    hasUrl: has('url'),
  }
}

/** @returns null where nothing is left, such as of a field that was not sent */
function renderSubject(parts: TemplatePart[], values: LayoutValues): string | null {
  const texts = parts.map((part) => {
    if (part.kind === 'literal') return part.text
    const value = part.kind === 'field' ? values.fields.get(part.name) : SUBJECT_VALUES[part.name]?.(values)
    return truncateText(toOneLine(cut(value ?? '', VALUE_MAX)), VALUE_MAX)
  })
  return truncateText(toOneLine(texts.join('')), SUBJECT_MAX) || null
}

const SUBJECT_VALUES: Partial<Record<string, (values: LayoutValues) => string>> = {
  form: ({ form }) => form.name,
  attribution: ({ attribution }) => attribution,
}

/** A value can have 65,536 characters. What is removed from it later, such as control characters, is rarely much. */
const cut = (text: string, max: number) => text.slice(0, 2 * max)

/** A text that may be cut, and what stands around it. */
interface Piece {
  text: string
  isCut: boolean
}

const fixed = (text: string): Piece => ({ text, isCut: false })

/** A shorter piece of a value is useless. */
const PIECE_MIN = 64

function renderText(parts: TemplatePart[], values: LayoutValues, max: number, cost: CharacterCost): string {
  const pieces = parts.flatMap((part) => toPieces(part, values))
  const costs = pieces.map(({ text }) => sumCost(text, cost, max + 1))
  const sum = (piece: number) =>
    costs.reduce((total, each, i) => total + (pieces[i]?.isCut ? Math.min(each, piece) : each), 0)
  // Finds the longest piece for which all values fit.
  let piece = PIECE_MIN
  for (let step = 2 ** 16; step >= 1; step /= 2) if (sum(piece + step) <= max) piece += step
  const text = pieces
    .map((each) => (each.isCut ? truncateText(each.text, piece, CUT_MARK, cost) : each.text))
    .join('')
  return truncateText(text, max, CUT_MARK, cost)
}

function toPieces(part: TemplatePart, values: LayoutValues): Piece[] {
  if (part.kind === 'literal') return [fixed(removeControlCharacters(part.text))]
  if (part.kind === 'field') return [toValue(values.fields.get(part.name) ?? '')]
  switch (part.name) {
    case 'form':
      return [fixed(toOneLine(values.form.name))]
    case 'attribution':
      return [fixed(truncateText(toOneLine(values.attribution), ATTRIBUTION_MAX))]
    case 'url':
      return [fixed(values.url)]
    case 'fields':
      return [...values.fields].flatMap(([name, value], i) => [
        {
          text: `${i === 0 ? '' : '\n'}${toOneLine(cut(values.labels?.get(name) ?? name, TEXT_VALUE_MAX))}`,
          isCut: true,
        },
        fixed(':\n  '),
        toValue(value),
      ])
    // Their links stay at the end of the message, where each service makes them a link.
    case 'files':
      return [fixed(toFileNames(values))]
    default:
      return []
  }
}

function toFileNames(values: LayoutValues): string {
  const { listed, more } = listNoticeFiles(values)
  return [...listed.map(({ name }) => name), ...(more === '' ? [] : [more])].join('\n  ')
}

/** Further lines are indented, so that no value can look like a line of the template. */
const toValue = (value: string): Piece => ({
  text: removeControlCharacters(cut(value, TEXT_VALUE_MAX)).trim().replaceAll('\n', '\n  '),
  isCut: true,
})
