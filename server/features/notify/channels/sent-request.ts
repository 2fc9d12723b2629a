// The request of an attempt as people may see it: what was really sent, without secrets, and no more than 16 KiB of it.

import { HIDDEN_VALUE } from '../http-body/request-headers.ts'
import type { SentRequest } from './contract.ts'
import { maskSecrets } from './service-response.ts'

const BODY_BYTES_MAX = 16 * 1024
const HEADER_BYTES_MAX = 512

/** A person who sees a signature or a token could repeat the request. */
const SECRET_HEADER = /signature|authorization|cookie|token|secret/i

interface RawRequest {
  method: string
  url: string | null
  headers: Iterable<[string, string]>
  body: string
}

/**
 * @param secrets texts that nobody may see in headers and body
 * @param hiddenHeaders names in lower case
 */
export function toSentRequest(
  { method, url, headers, body }: RawRequest,
  secrets: string[],
  hiddenHeaders: string[] = [],
): SentRequest {
  const shown = [...headers].map(([name, value]) => [
    name,
    SECRET_HEADER.test(name) || hiddenHeaders.includes(name)
      ? HIDDEN_VALUE
      : cutAndMask(value, HEADER_BYTES_MAX, secrets),
  ])
  return {
    method,
    url,
    headers: Object.fromEntries(shown),
    body: cutAndMask(body, BODY_BYTES_MAX, secrets),
    bodyBytes: Buffer.byteLength(body),
  }
}

/** Longer than any secret. */
const SECRET_MAX = 4096

/** Masks before the last cut, which could leave half of a secret. The first cut bounds the work for a long text. */
function cutAndMask(text: string, bytesMax: number, secrets: string[]): string {
  const start = text.slice(0, bytesMax + SECRET_MAX)
  // Towpath wrote the text itself, so a secret is there as it is, or not at all. Most texts have none.
  const masked = secrets.some((secret) => start.includes(secret)) ? maskSecrets(start, secrets) : start
  if (Buffer.byteLength(masked) <= bytesMax) return masked
  // A cut through a character leaves a replacement character.
  return Buffer.from(masked)
    .subarray(0, bytesMax)
    .toString()
    .replace(/\ufffd$/, '')
}

/** The text that a row stores. JSON escapes NUL and lone surrogates, which no engine stores. */
export const toStoredRequest = (request: SentRequest | undefined): string | null =>
  request === undefined ? null : JSON.stringify(request)

export const parseStoredRequest = (stored: string | null): SentRequest | null =>
  stored === null ? null : (JSON.parse(stored) as SentRequest)
