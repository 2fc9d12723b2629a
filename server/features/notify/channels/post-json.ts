// Sends a message to a service and turns its answer into a result: JSON by POST, unless a channel of type http says
// otherwise. All channels but email use it.

import { completeHeaders, type SafeFailure, safeRequest } from '../../../http/safe-request.ts'
import { addContentType } from '../http-body/request-headers.ts'
import type { DeliveryResult, Notice, SendNeeds } from './contract.ts'
import { readRedirect } from './redirect-answer.ts'
import { toSentRequest } from './sent-request.ts'
import { readRetryAfter, sanitizeResponse, toResult } from './service-response.ts'

export interface JsonMessage {
  url: string
  /** The address as people may see it. */
  shownUrl: string
  /** POST when absent. */
  method?: string
  headers?: Record<string, string>
  /** JSON text, unless the headers name another type. */
  body: string
  /** Names of headers whose values nobody may see, in lower case. */
  hiddenHeaders?: string[]
  /** Texts that the stored answer must not contain. */
  secrets: string[]
}

export interface ServiceResponse {
  status: number
  text: string
  /** The text parsed as a JSON object; empty where it is none. */
  json: Record<string, unknown>
}

/** The meaning of an answer's body, beyond its status. */
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
  { url, shownUrl, method = 'POST', headers: ownHeaders, body, hiddenHeaders, secrets }: JsonMessage,
  read: (reply: ServiceResponse) => ResponseVerdict,
): Promise<DeliveryResult> {
  // With the charset, because Teams counts a body without one at twice its size.
  const headers = addContentType(ownHeaders ?? {})
  const { allow, resolve, timeoutMs } = needs
  const message = { headers, body, reusesConnections: true }
  const response = await safeRequest({ ...message, url, method, allow, resolve, timeoutMs })
  const sent = { method, url: shownUrl, headers: completeHeaders(message).entries(), body }
  const request = toSentRequest(sent, secrets, hiddenHeaders)
  if (!response.ok) {
    const { reason, message: answer } = response
    return toResult(reason === 'timeout' ? 'timeout' : 'unreachable', sanitizeResponse(answer, secrets), {
      ...(!NOTHING_SENT.includes(reason) && { request }),
      ...(reason === 'bad-url' && { permanent: { what: 'channel', reason: answer } }),
    })
  }
  const { status } = response
  const text = new TextDecoder().decode(response.body)
  const verdict = read({ status, text, json: parseObject(text) })
  const redirect = readRedirect(url, response)
  const answer = sanitizeResponse(redirect?.text ?? verdict.answer ?? text, secrets)
  const base = { httpStatus: status, answer, request }
  if ((status >= 200 && status < 300) || redirect?.isDelivered) return { outcome: 'delivered', ...base }
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

/** The request ends before its first byte. */
const NOTHING_SENT: SafeFailure[] = ['bad-url', 'refused-address', 'dns', 'tls']

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
export function toIncompleteResult(setting: string): DeliveryResult {
  const reason = `The channel has no ${setting}`
  return toResult('unreachable', reason, { permanent: { what: 'channel', reason } })
}

/** How programs answer: only by their status. @param noun what the program gets */
export const readProgram =
  (noun: string) =>
  ({ status }: ServiceResponse): ResponseVerdict => {
    const reason = `The receiver answered 410 Gone: it accepts no more ${noun}`
    return status === 410 ? { permanent: { what: 'channel', reason } } : {}
  }
