// One POST to a service, and its answer as a result: what all channels but e-mail have in common.

import { safeRequest } from '../../../http/safe-request.ts'
import type { DeliveryResult, Notice, SendNeeds } from './contract.ts'
import { readRetryAfter, sanitizeResponse } from './service-response.ts'

export interface JsonMessage {
  url: string
  headers?: Record<string, string>
  /** JSON. */
  body: string
  /** What must not be in anything that is kept. */
  secrets: string[]
}

export interface ServiceResponse {
  status: number
  text: string
  /** The text as an object; empty where it is none. */
  json: Record<string, unknown>
}

/** What a service's own answer means beyond its status. */
export interface ResponseVerdict {
  /** In place of the whole text. */
  answer?: string
  retryAfterMs?: number
  permanent?: DeliveryResult['permanent']
}

/** @param read is asked about every answer, also those that are a success. */
export async function postJson(
  needs: SendNeeds,
  notice: Notice,
  { url, headers, body, secrets }: JsonMessage,
  read: (reply: ServiceResponse) => ResponseVerdict,
): Promise<DeliveryResult> {
  const answer = await safeRequest({
    url,
    method: 'POST',
    // Named, because Teams takes a body of unnamed encoding for one of twice the size.
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body,
    allow: needs.allow,
    timeoutMs: needs.timeoutMs,
  })
  if (!answer.ok) {
    const { reason, message } = answer
    return {
      outcome: reason === 'timeout' ? 'timeout' : 'unreachable',
      httpStatus: null,
      answer: sanitizeResponse(message, secrets),
      ...(reason === 'bad-url' && { permanent: { what: 'channel', reason: message } }),
    }
  }
  const { status } = answer
  const text = new TextDecoder().decode(answer.body)
  const reading = read({ status, text, json: parseObject(text) })
  const base = { httpStatus: status, answer: sanitizeResponse(reading.answer ?? text, secrets) }
  if (status >= 200 && status < 300) return { outcome: 'delivered', ...base }
  const { permanent } = reading
  return {
    outcome: 'refused',
    ...base,
    retryAfterMs: reading.retryAfterMs ?? readRetryAfter(answer.headers, notice.at),
    ...(permanent && {
      permanent: { ...permanent, reason: sanitizeResponse(permanent.reason, secrets) ?? permanent.what },
    }),
  }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

export const toStringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A channel whose row lost its secret cannot be told apart from one that never had it. */
export const toIncompleteResult = (what: string): DeliveryResult => ({
  outcome: 'unreachable',
  httpStatus: null,
  answer: `The channel has no ${what}`,
  permanent: { what: 'channel', reason: `The channel has no ${what}` },
})
