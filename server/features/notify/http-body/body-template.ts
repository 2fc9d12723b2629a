// Templates of the body of a channel of type http: where the placeholders are, and how their values are escaped.

export const BODY_TYPES = ['json', 'form', 'text'] as const
export type BodyType = (typeof BODY_TYPES)[number]

/** Literal text, or the path of a placeholder. */
export type BodyPart =
  | { text: string }
  /** `quoted`: in JSON, inside a text. `max`: the most characters of the value. */
  | { path: string; quoted: boolean; max: number }

const OPEN = '{{'
const CLOSE = '}}'

/** @returns the parts, or the mistake as a sentence */
export function parseBodyTemplate(template: string, type: BodyType): BodyPart[] | string {
  const parts: BodyPart[] = []
  const json = { quoted: false, escaped: false }
  for (let at = 0; at < template.length; ) {
    const open = template.indexOf(OPEN, at)
    const text = template.slice(at, open === -1 ? undefined : open)
    if (type === 'json') followQuotes(json, text)
    if (text !== '') parts.push({ text })
    if (open === -1) break
    const close = template.indexOf(CLOSE, open)
    if (close === -1) return 'has a {{ without its }}'
    const placeholder = readPlaceholder(template.slice(open + OPEN.length, close))
    if (typeof placeholder === 'string') return placeholder
    parts.push({ ...placeholder, quoted: json.quoted })
    at = close + CLOSE.length
  }
  if (type === 'json' && !isJson(parts))
    return 'must be JSON. Put a placeholder inside a text ("{{fields.email}}"), or use it as a whole value'
  return parts
}

/** `fields.message | 2000`: services refuse longer texts. */
function readPlaceholder(written: string): { path: string; max: number } | string {
  const bar = written.lastIndexOf('|')
  if (bar === -1) return { path: written.trim(), max: Number.POSITIVE_INFINITY }
  const max = written.slice(bar + 1).trim()
  if (!/^[1-9]\d{0,5}$/.test(max))
    return 'has a placeholder with an invalid length: write a whole number, as in {{fields.message | 2000}}'
  return { path: written.slice(0, bar).trim(), max: Number(max) }
}

/** Follows the texts of JSON. A backslash before a placeholder is found by `isJson`. */
function followQuotes(json: { quoted: boolean; escaped: boolean }, text: string): void {
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (json.escaped) json.escaped = false
    else if (character === '\\') json.escaped = json.quoted
    else if (character === '"') json.quoted = !json.quoted
  }
  json.escaped = false
}

/** No letter after a backslash, no digit of `\u`, and no part of a number. */
const IN_TEXT = 'x'
/** A value: beside another character it is none. */
const AS_VALUE = ' null '

function isJson(parts: BodyPart[]): boolean {
  const filled = parts.map((part) => ('text' in part ? part.text : part.quoted ? IN_TEXT : AS_VALUE))
  try {
    JSON.parse(filled.join(''))
    return true
  } catch {
    return false
  }
}

/** Writes a value, so that it ends neither the text nor the field in which it stands. */
export function escapeValue(
  value: unknown,
  type: BodyType,
  { quoted, max = Number.POSITIVE_INFINITY }: { quoted: boolean; max?: number },
): string {
  if (type === 'json' && !quoted)
    return toJson(typeof value === 'string' ? value.slice(0, max).toWellFormed() : value)
  // A cut through a character leaves a replacement character.
  const text = toText(value).slice(0, max).toWellFormed()
  if (type === 'json') return JSON.stringify(text).slice(1, -1)
  if (type === 'form') return encodeURIComponent(text)
  return toIndentedText(text)
}

/** A value without a form in JSON becomes null. A `RawJson` is written unchanged. */
const toJson = (value: unknown): string =>
  value instanceof RawJson ? value.text : (JSON.stringify(value) ?? 'null')

/** JSON text whose order of fields must stay. */
export class RawJson {
  constructor(readonly text: string) {}
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? toJson(value) : String(value)
}

const LINE_BREAK = /\r\n|[\n\r\v\f\x85\u2028\u2029]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not pass
const CONTROL = /[\0-\x08\x0e-\x1f\x7f-\x9f]/g

/** Plain text has no quotes. A line of a value never begins at the left, as a folded line of RFC 5322 does not. */
const toIndentedText = (text: string) => text.replace(LINE_BREAK, '\n    ').replace(CONTROL, '')
