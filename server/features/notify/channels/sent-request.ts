// The request of an attempt as people may see it: what was really sent, without secrets, and no more than 16 KiB of it.

import type { SentRequest } from './contract.ts'
import { truncateText, utf8Length } from './safe-text.ts'
import { maskSecrets } from './service-response.ts'

const BODY_BYTES_MAX = 16 * 1024
const HEADER_MAX = 512

/** Whoever sees a signature or a token could repeat the request. */
const SECRET_HEADER = /signature|authorization|cookie|token|secret/i
const HIDDEN = '(hidden)'

interface RawRequest {
  method: string
  url: string | null
  headers: Iterable<[string, string]>
  body: string
}

/** @param secrets texts that nobody may see in headers and body */
export function toSentRequest({ method, url, headers, body }: RawRequest, secrets: string[]): SentRequest {
  const shown = [...headers].map(([name, value]) => [
    name,
    SECRET_HEADER.test(name) ? HIDDEN : truncateText(maskSecrets(value, secrets), HEADER_MAX),
  ])
  return {
    method,
    url,
    headers: Object.fromEntries(shown),
    // Masked before the cut: a cut could leave half of a secret.
    body: truncateText(maskSecrets(body, secrets), BODY_BYTES_MAX, '', utf8Length),
    bodyBytes: Buffer.byteLength(body),
  }
}

/** As a row stores it. JSON escapes NUL and lone surrogates, which no engine stores. */
export const toStoredRequest = (request: SentRequest | undefined): string | null =>
  request === undefined ? null : JSON.stringify(request)

export const parseStoredRequest = (stored: string | null): SentRequest | null =>
  stored === null ? null : (JSON.parse(stored) as SentRequest)
