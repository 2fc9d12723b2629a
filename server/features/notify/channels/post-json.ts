// Posts JSON to a service and turns its answer into a result. All channels but e-mail use it.

import { safeRequest } from '../../../http/safe-request.ts'
import type { DeliveryResult, Notice, SendNeeds } from './contract.ts'
import { readRetryAfter, sanitizeResponse } from './service-response.ts'

export interface JsonMessage {
  url: string
  headers?: Record<string, string>
  /** JSON text. */
  body: string
  /** Texts that the stored answer must not contain. */
  secrets: string[]
}

export interface ServiceResponse {
  status: number
  text: string
  /** The text parsed as a JSON object; empty where it is none. */
  json: Record<string, unknown>
}

/** What the body of an answer means, beyond its status. */
export interface ResponseVerdict {
  /** Stored in place of the whole text. */
  answer?: string
  retryAfterMs?: number
  permanent?: DeliveryResult['permanent']
}

/** @param read judges every answer, successes included */
export async function postJson(
  needs: SendNeeds,
  notice: Notice,
  { url, headers, body, secrets }: JsonMessage,
  read: (reply: ServiceResponse) => ResponseVerdict,
): Promise<DeliveryResult> {
  const response = await safeRequest({
    url,
    method: 'POST',
    // With the charset, because Teams counts a body without one at twice its size.
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body,
    allow: needs.allow,
    timeoutMs: needs.timeoutMs,
  })
  if (!response.ok) {
    const { reason, message } = response
    return {
      outcome: reason === 'timeout' ? 'timeout' : 'unreachable',
      httpStatus: null,
      answer: sanitizeResponse(message, secrets),
      ...(reason === 'bad-url' && { permanent: { what: 'channel', reason: message } }),
    }
  }
  const { status } = response
  const text = new TextDecoder().decode(response.body)
  const verdict = read({ status, text, json: parseObject(text) })
  const base = { httpStatus: status, answer: sanitizeResponse(verdict.answer ?? text, secrets) }
  if (status >= 200 && status < 300) return { outcome: 'delivered', ...base }
  const { permanent } = verdict
  return {
    outcome: 'refused',
    ...base,
    retryAfterMs: verdict.retryAfterMs ?? readRetryAfter(response.headers, notice.at),
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

/** For a channel whose row lacks a setting. @param setting such as `URL` */
export const toIncompleteResult = (setting: string): DeliveryResult => ({
  outcome: 'unreachable',
  httpStatus: null,
  answer: `The channel has no ${setting}`,
  permanent: { what: 'channel', reason: `The channel has no ${setting}` },
})
