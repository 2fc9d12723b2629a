// Puts the texts of a catalog into a source file in place of the English ones.

import { findMessages, type Message } from './find-messages.ts'

/** English texts with their translation. Both have the same placeholders. */
export type Catalog = Record<string, string>

/** A text without a translation stays English. */
export function translateSource(path: string, source: string, catalog: Catalog): string {
  const messages = findMessages(path, source).filter(({ key }) => catalog[key])
  return messages.length === 0 ? source : render({ source, messages, catalog }, 0, source.length)
}

interface Translation {
  source: string
  messages: Message[]
  catalog: Catalog
}

/** The code from `start` to `end`, with its texts translated: the outer ones first, and those in their slots with them. */
function render(translation: Translation, start: number, end: number): string {
  let code = ''
  let at = start
  for (const message of translation.messages) {
    if (message.start < at || message.end > end) continue
    code += translation.source.slice(at, message.start) + renderMessage(translation, message)
    at = message.end
  }
  return code + translation.source.slice(at, end)
}

function renderMessage(translation: Translation, message: Message): string {
  const { kind, key, before, after } = message
  const text = translation.catalog[key] as string
  if (kind === 'plural') return renderForms(text.split(' | '))
  const tokens = [before, ...parseText(text), after]
  if (kind === 'children') return renderChildren(translation, message, tokens)
  if (kind !== 'template') return wrap(kind, JSON.stringify(tokens.join('')))
  const parts = tokens.map((token) => {
    if (typeof token === 'string') return token.replace(/[\\`$]/g, '\\$&')
    const slot = message.slots[token.slot]
    return slot?.kind === 'value' ? `\${${render(translation, slot.start, slot.end)}}` : ''
  })
  return `\`${parts.join('')}\``
}

const wrap = (kind: Message['kind'], code: string) => (kind === 'attribute' ? `{${code}}` : code)

/** One form for each category of the language (ui/format.ts). */
const renderForms = (forms: string[]) =>
  forms.length <= 2 ? forms.map((form) => JSON.stringify(form)).join(', ') : JSON.stringify(forms)

function renderChildren(translation: Translation, message: Message, tokens: Token[]): string {
  const code = tokens.map((token) => {
    if (typeof token === 'string') return token === '' ? '' : `{${JSON.stringify(token)}}`
    const slot = message.slots[token.slot]
    if (slot?.kind === 'value') return `{${render(translation, slot.start, slot.end)}}`
    if (!slot) return ''
    const { open, close } = slot
    if (token.part === 'close') return close ? translation.source.slice(close.start, close.end) : ''
    return render(translation, open.start, open.end)
  })
  return code.join('')
}

type Token = string | { slot: number; part: 'value' | 'open' | 'close' | 'whole' }

const TOKEN = /\\([{}<])|\{(\d+)\}|<(\/?)(\d+)(\/?)>/g

/** Splits `Sent to {0}, <1>more</1>` into its texts and placeholders. */
export function parseText(text: string): Token[] {
  const tokens: Token[] = []
  let own = ''
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    const [whole, escaped, value, closes, element, isWhole] = match
    own += text.slice(at, match.index)
    at = match.index + whole.length
    if (escaped !== undefined) own += escaped
    else {
      tokens.push(own)
      own = ''
      if (value !== undefined) tokens.push({ slot: Number(value), part: 'value' })
      else tokens.push({ slot: Number(element), part: closes ? 'close' : isWhole ? 'whole' : 'open' })
    }
  }
  return [...tokens, own + text.slice(at)].filter((token) => token !== '')
}

/** The placeholders of a text in a fixed order: a translation must have the same. */
export const listPlaceholders = (text: string) =>
  parseText(text)
    .filter((token) => typeof token !== 'string')
    .map(({ slot, part }) => `${slot} ${part}`)
    .sort()
