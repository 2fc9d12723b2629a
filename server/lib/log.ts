// Logs one line per event: to standard output, and warnings and errors to standard error. A line has the id of the
// request that it is about. A line never has a body, a key, an address or a cookie.

import { type LogFields, type LogFormat, toJsonLine, toPrettyLine } from './telemetry/log-format.ts'
import { findRequest } from './telemetry/request-context.ts'

export const LOG_LEVELS = ['info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

let threshold = 0
let format: LogFormat = 'json'

/** For starting a worker process with the same level. */
export const getLogLevel = (): LogLevel => LOG_LEVELS[threshold] ?? 'info'

/** Lines below this level are not written. */
export function setLogLevel(level: LogLevel): void {
  threshold = LOG_LEVELS.indexOf(level)
}

/** For starting a worker process with the same format. */
export const getLogFormat = (): LogFormat => format

export function setLogFormat(wanted: LogFormat): void {
  format = wanted
}

function write(stream: NodeJS.WriteStream, level: LogLevel, event: string, fields: LogFields) {
  if (LOG_LEVELS.indexOf(level) < threshold) return
  const requestId = findRequest()?.id
  const line = {
    at: new Date().toISOString(),
    level,
    event,
    fields: requestId === undefined ? fields : { requestId, ...fields },
  }
  stream.write(format === 'pretty' ? toPrettyLine(line, stream.isTTY === true) : toJsonLine(line))
}

/** The message and the first lines of an error's stack. Only for the log: callers must not see them. */
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
