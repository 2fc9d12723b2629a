// What a service said of a message, as it may be kept: its first kilobyte, and nothing in it that only the channel's
// owner may know.

import { percentDecode } from '../../../lib/text.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { removeControlCharacters, truncateText, utf8Length } from './safe-text.ts'

const ANSWER_BYTES_MAX = 1024

/** `null` for a service that said nothing. */
export function sanitizeResponse(text: string, secrets: string[]): string | null {
  const shown = truncateText(
    maskSecrets(removeControlCharacters(text).trim(), secrets),
    ANSWER_BYTES_MAX,
    '…',
    utf8Length,
  )
  return shown === '' ? null : shown
}

/**
 * `text` with every secret blotted out, in the spellings that servers repeat requests in. As long as before: what is
 * cut off afterwards cannot leave half a secret at the new end.
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
  return text.replace(any, (found) => '*'.repeat(found.length))
}

/**
 * What is secret about an address that is a password at the same time: all of it, its path, and each part that is
 * no word.
 */
export function listUrlSecrets(text: string): string[] {
  const url = URL.parse(text)
  if (!url) return [text]
  const parts = [...url.pathname.split('/'), ...url.searchParams.values()]
  const unguessable = parts.filter((part) => part.length >= 16 || (part.length >= 8 && /\d/.test(part)))
  const place = [url.pathname + url.search, url.pathname].filter((path) => path.length >= 8)
  return [text, url.href, ...place, ...unguessable, ...unguessable.map(percentDecode)]
}

/** Seconds, or a date (RFC 9110 §10.2.3), which is one of the server's clock where it says its time. */
export function readRetryAfter(headers: Headers, at: number): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return toRetryDelayMs(Number(value))
  // Lenient parsers take "-5" for a year.
  const until = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN
  const there = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(until) ? undefined : toRetryDelayMs((until - (Number.isNaN(there) ? at : there)) / 1000)
}

/** In milliseconds, and a day at most: nobody shall silence a channel for ever. */
export const toRetryDelayMs = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && Number.isFinite(seconds)
    ? Math.min(Math.max(Math.ceil(seconds * 1000), 0), DAY_MS)
    : undefined
