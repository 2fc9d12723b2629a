// Formats log lines: one JSON object for programs, or aligned text for people. Both have the same fields.

export const LOG_FORMATS = ['json', 'pretty'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

export type LogFields = Record<string, string | number | boolean | null | undefined>

export interface LogLine {
  at: string
  level: string
  event: string
  fields: LogFields
}

export const toJsonLine = ({ at, level, event, fields }: LogLine): string =>
  `${escapeUnsafe(JSON.stringify({ at, level, event, ...fields }))}\n`

const LEVEL_COLORS: Record<string, string> = { info: '36', warn: '33', error: '31' }
const DIM = '2'
const LEVEL_WIDTH = 5
const EVENT_WIDTH = 24

/** @param colors for a terminal */
export function toPrettyLine({ at, level, event, fields }: LogLine, colors: boolean): string {
  const paint = (text: string, color = '') => (colors && color ? `\x1b[${color}m${text}\x1b[0m` : text)
  const { stack, ...others } = fields
  const pairs = Object.entries(others)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${paint(`${name}=`, DIM)}${toPrettyValue(value)}`)
  const head = [
    paint(at, DIM),
    paint(level.toUpperCase().padEnd(LEVEL_WIDTH), LEVEL_COLORS[level]),
    event.padEnd(EVENT_WIDTH),
  ]
  return `${[...head, ...pairs].join(' ').trimEnd()}\n${stack === undefined ? '' : toStackLines(String(stack))}`
}

/** Quotes a text that could look like another field or line. */
const toPrettyValue = (value: unknown) =>
  typeof value === 'string' && !/^[\w./:@+-]+$/.test(value)
    ? escapeUnsafe(JSON.stringify(value))
    : String(value)

/** Indents each line, so that an error's text cannot look like a log line. */
const toStackLines = (stack: string) =>
  stack
    .split('\n')
    .map((line) => `    ${escapeUnsafe(line.trim())}\n`)
    .join('')

/**
 * JSON escapes control characters below U+0020 only. The others control terminals (U+007F to U+009F), end a line for some
 * readers (U+2028, U+2029), or show text in another order. They can only be inside a string of the line.
 */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

const escapeUnsafe = (text: string) =>
  text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
