// Settings of the log, of slow requests, and of traces. Those of traces have the names that OpenTelemetry gives them
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).

import { trimEnd } from '../lib/clean-text.ts'
import { LOG_LEVELS, type LogLevel } from '../lib/log.ts'
import { LOG_FORMATS, type LogFormat } from '../lib/telemetry/log-format.ts'
import { TRACE_SAMPLERS, type TraceSampler, type TracingSettings } from '../lib/telemetry/tracing-settings.ts'
import { parseUrl } from '../lib/web-url.ts'
import type { GetSetting, ProblemReporter } from './setting.ts'
import type { SettingName } from './setting-groups.ts'

export interface ObservabilitySettings {
  logLevel: LogLevel
  logFormat: LogFormat
  /** Requests that take at least this many milliseconds get a log line; 0 for none. */
  slowRequestMs: number
  /** Where traces go; undefined: nowhere. */
  tracing?: TracingSettings
}

const SLOW_REQUEST_MS = 1_000
const SLOW_REQUEST_MS_MAX = 3_600_000

export function readObservability(get: GetSetting, wrong: ProblemReporter): ObservabilitySettings {
  return {
    logLevel: readOneOf('LOG_LEVEL', 'level', LOG_LEVELS, get, wrong) ?? 'info',
    logFormat: readOneOf('LOG_FORMAT', 'format', LOG_FORMATS, get, wrong) ?? 'json',
    slowRequestMs: readSlowRequestMs(get('SLOW_REQUEST_MS'), wrong),
    tracing: readTracing(get, wrong),
  }
}

function readOneOf<T extends string>(
  name: SettingName,
  noun: string,
  known: readonly T[],
  get: GetSetting,
  wrong: ProblemReporter,
): T | undefined {
  const text = get(name)
  const found = known.find((each) => each === text)
  if (text !== undefined && found === undefined)
    wrong(name, `"${text}" is not a ${noun}`, `Use one of ${known.join(', ')}.`)
  return found
}

function readSlowRequestMs(text: string | undefined, wrong: ProblemReporter): number {
  if (text === undefined) return SLOW_REQUEST_MS
  const ms = Number(text)
  if (/^\d+$/.test(text) && ms <= SLOW_REQUEST_MS_MAX) return ms
  const fix = `Use a whole number up to ${SLOW_REQUEST_MS_MAX}, 0 for no such lines, or leave it out for ${SLOW_REQUEST_MS}.`
  wrong('SLOW_REQUEST_MS', `"${text}" is not a number of milliseconds`, fix)
  return SLOW_REQUEST_MS
}

/** Without an endpoint the other settings are ignored, because they may belong to another program. */
function readTracing(get: GetSetting, wrong: ProblemReporter): TracingSettings | undefined {
  const url = readEndpoint(get('OTEL_EXPORTER_OTLP_ENDPOINT'), wrong)
  if (url === undefined) return undefined
  const sampler: TraceSampler =
    readOneOf('OTEL_TRACES_SAMPLER', 'sampler', TRACE_SAMPLERS, get, wrong) ?? 'parentbased_always_on'
  return {
    url,
    serviceName: get('OTEL_SERVICE_NAME') ?? 'towpath',
    headers: readHeaders(get('OTEL_EXPORTER_OTLP_HEADERS'), wrong),
    sampler,
    ratio: readRatio(get('OTEL_TRACES_SAMPLER_ARG'), sampler, wrong),
  }
}

/** The messages repeat no address and no header, because both may have a password. */
function readEndpoint(text: string | undefined, wrong: ProblemReporter): string | undefined {
  if (text === undefined) return undefined
  const url = parseUrl(text)
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) {
    url.pathname = `${trimEnd(url.pathname, '/')}/v1/traces`
    return url.href
  }
  wrong(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'is not the address of a receiver of OTLP over HTTP',
    'Use http://host:4318, or leave it out.',
  )
  return undefined
}

function readHeaders(text: string | undefined, wrong: ProblemReporter): Record<string, string> {
  const pairs = text?.split(',').filter((pair) => pair.trim() !== '') ?? []
  const headers: Record<string, string> = {}
  for (const pair of pairs) {
    const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([!-~]*)\s*$/.exec(pair) ?? []
    const decoded = value === undefined ? undefined : decode(value)
    if (name !== undefined && decoded !== undefined) headers[name] = decoded
    else {
      const fix = 'Use name=value, with commas between, and write other characters as %20.'
      wrong('OTEL_EXPORTER_OTLP_HEADERS', 'has a part that is not name=value', fix)
      return {}
    }
  }
  return headers
}

function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text)
    return /^[ -~]*$/.test(decoded) ? decoded : undefined
  } catch {
    return undefined
  }
}

function readRatio(text: string | undefined, sampler: TraceSampler, wrong: ProblemReporter): number {
  if (text === undefined || !sampler.endsWith('traceidratio')) return 1
  const ratio = Number(text)
  if (/^\d*\.?\d+$/.test(text) && ratio <= 1) return ratio
  wrong('OTEL_TRACES_SAMPLER_ARG', `"${text}" is not a share`, 'Use a number from 0 to 1, such as 0.1.')
  return 1
}
