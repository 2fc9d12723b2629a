// Writes values as ClickHouse's query parameters, so that a value is never part of the SQL. A parameter is written as a field
// of the format TabSeparated, and a text in a list is quoted.

import { cutText as cut } from '../../../lib/clean-text.ts'
import type { SqlValue } from '../../filter-sql.ts'

/** A server refuses a field of more than 128 KiB (`http_max_field_value_size`). A longer value is sent in parts. */
const PART_BYTES = 100_000
/** A character of a text takes at most three bytes, or two with its backslash. */
const PART_CHARACTERS = Math.floor(PART_BYTES / 3)

/** A value in a statement, and the fields of the request with its parts. */
interface Parameter {
  expression: string
  fields: [name: string, text: string][]
}

const ESCAPES: Record<string, string> = {
  '\\': '\\\\',
  "'": "\\'",
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}
export const escapeText = (text: string) =>
  text.toWellFormed().replace(/[\\'\0\b\f\n\r\t]/g, (character) => ESCAPES[character] as string)

/** The placeholder of the n-th value, counted from 1. `toFields` writes the same values into the request. */
export const toPlaceholder = (n: number, value: SqlValue): string => toParameter(`p${n}`, value).expression

/** @returns the fields of a request, without the prefix `param_` */
export const toFields = (values: SqlValue[]): [name: string, text: string][] =>
  values.flatMap((value, index) => toParameter(`p${index + 1}`, value).fields)

function toParameter(name: string, value: SqlValue): Parameter {
  if (Array.isArray(value)) return toListParameter(name, value)
  if (typeof value === 'string') return toTextParameter(name, value)
  return { expression: `{${name}:Int64}`, fields: [[name, toInteger(value)]] }
}

function toTextParameter(name: string, text: string): Parameter {
  if (text.length <= PART_CHARACTERS)
    return { expression: `{${name}:String}`, fields: [[name, escapeText(text)]] }
  const parts = cutText(text).map((part, index) => toTextParameter(`${name}_${index}`, part))
  return join('concat', parts)
}

function toListParameter(name: string, items: (number | string)[]): Parameter {
  const type = typeof items[0] === 'string' ? 'String' : 'Int64'
  const parts: Parameter[] = []
  let texts: string[] = []
  let length = 0
  const toPartName = () => `${name}_${parts.length}`
  const closePart = () => {
    const part = toPartName()
    parts.push({ expression: `{${part}:Array(${type})}`, fields: [[part, `[${texts.join(',')}]`]] })
    texts = []
    length = 0
  }
  for (const item of items) {
    const text = typeof item === 'number' ? toInteger(item) : `'${escapeText(item)}'`
    if (texts.length > 0 && length + text.length > PART_CHARACTERS) closePart()
    if (typeof item === 'string' && item.length > PART_CHARACTERS) {
      const { expression, fields } = toTextParameter(toPartName(), item)
      parts.push({ expression: `[${expression}]`, fields })
      continue
    }
    texts.push(text)
    length += text.length + 1
  }
  if (texts.length > 0 || parts.length === 0) closePart()
  return parts.length === 1 ? (parts[0] as Parameter) : join('arrayConcat', parts)
}

const join = (how: string, parts: Parameter[]): Parameter => ({
  expression: `${how}(${parts.map(({ expression }) => expression).join(', ')})`,
  fields: parts.flatMap(({ fields }) => fields),
})

function cutText(text: string): string[] {
  const parts: string[] = []
  for (let start = 0; start < text.length; ) {
    const part = cut(text.slice(start), PART_CHARACTERS)
    parts.push(part)
    start += part.length
  }
  return parts
}

function toInteger(value: number): string {
  if (!Number.isSafeInteger(value))
    throw new Error(`A question has a value that is no whole number: ${value}`)
  return String(value)
}
