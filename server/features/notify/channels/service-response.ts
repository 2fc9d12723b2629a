// Prepares the answer of a service for storage: its first kilobyte, without the channel's secrets. Reads Retry-After.

import { percentDecode } from '../../../lib/text.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import type { DeliveryResult } from './contract.ts'
import { removeControlCharacters, truncateText, utf8Length } from './safe-text.ts'

const ANSWER_BYTES_MAX = 1024

/** The result of an attempt without an HTTP answer. @param answer a sentence for people */
export const toResult = (
  outcome: DeliveryResult['outcome'],
  answer: string | null,
  more?: Partial<DeliveryResult>,
): DeliveryResult => ({ outcome, httpStatus: null, answer, ...more })

/** @returns null for an empty answer */
export function sanitizeResponse(text: string, secrets: string[]): string | null {
  const plain = removeControlCharacters(text).trim()
  if (plain === '') return null
  return truncateText(maskSecrets(plain, secrets), ANSWER_BYTES_MAX, '…', utf8Length)
}

/**
 * Replaces every secret with asterisks, in each encoding in which servers repeat requests. The length stays the same, so
 * that a cut afterwards cannot leave half a secret at the end.
 */
export function maskSecrets(text: string, secrets: string[]): string {
  const spellings = secrets
    .flatMap((secret) => [
      secret,
      secret.replaceAll('/', '\\/'),
      encodeURIComponent(secret),
      encodeURI(secret),
    ])
    .filter((spelling) => spelling !== '')
    .sort((a, b) => b.length - a.length)
  if (spellings.length === 0) return text
  const any = new RegExp(spellings.map((spelling) => RegExp.escape(spelling)).join('|'), 'gi')
  return text.replace(any, (secret) => '*'.repeat(secret.length))
}

/**
 * Lists the secret texts of an address that works like a password: the whole address, its path, and each part that
 * nobody can guess.
 */
export function listUrlSecrets(text: string): string[] {
  const url = parseUrl(text)
  if (!url) return [text]
  const parts = [...url.pathname.split('/'), ...url.searchParams.values()]
  const unguessable = parts.filter((part) => part.length >= 16 || (part.length >= 8 && /\d/.test(part)))
  const paths = [url.pathname + url.search, url.pathname].filter((path) => path.length >= 8)
  return [text, url.href, ...paths, ...unguessable, ...unguessable.map(percentDecode)]
}

/**
 * Reads Retry-After: seconds or a date (RFC 9110 §10.2.3). A date counts from the server's own Date header, or from `at`.
 * @returns milliseconds
 */
export function readRetryAfter(headers: Headers, at: number): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return toRetryDelayMs(Number(value))
  // Starts with the name of a weekday: `Date.parse` takes "-5" for a year.
  const until = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN
  const serverTime = Date.parse(headers.get('date') ?? '')
  const from = Number.isNaN(serverTime) ? at : serverTime
  return Number.isNaN(until) ? undefined : toRetryDelayMs((until - from) / 1000)
}

/** @returns milliseconds, at most a day, so that no service silences a channel for ever */
export const toRetryDelayMs = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && Number.isFinite(seconds)
    ? Math.min(Math.max(Math.ceil(seconds * 1000), 0), DAY_MS)
    : undefined
