// Logs one JSON line per event: to standard output, and warnings and errors to standard error. A line never has a body, a
// key, an address or a cookie.

export type LogFields = Record<string, string | number | boolean | null | undefined>

export const LOG_LEVELS = ['info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

let threshold = 0

/** For starting a worker process with the same level. */
export const getLogLevel = (): LogLevel => LOG_LEVELS[threshold] ?? 'info'

/** Lines below this level are not written. */
export function setLogLevel(level: LogLevel): void {
  threshold = LOG_LEVELS.indexOf(level)
}

function write(stream: NodeJS.WriteStream, level: LogLevel, event: string, fields: LogFields) {
  if (LOG_LEVELS.indexOf(level) < threshold) return
  const line = JSON.stringify({ at: new Date().toISOString(), level, event, ...fields })
  stream.write(`${line.replace(UNSAFE, toJsonEscape)}\n`)
}

/**
 * JSON escapes control characters below U+0020 only. The others control terminals (U+007F to U+009F), end a line for some
 * readers (U+2028, U+2029), or show text in another order. They can only be inside a string of the line.
 */
const UNSAFE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const toJsonEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The message and the first lines of the stack of an error. For the log only: no caller may see them. */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) }
  const cause = error.cause instanceof Error ? error.cause.message : undefined
  return { error: error.message, cause, stack: error.stack?.split('\n').slice(1, 6).join('\n') }
}

export const log = {
  info: (event: string, fields: LogFields = {}) => write(process.stdout, 'info', event, fields),
  warn: (event: string, fields: LogFields = {}) => write(process.stderr, 'warn', event, fields),
  error: (event: string, fields: LogFields = {}) => write(process.stderr, 'error', event, fields),
}
