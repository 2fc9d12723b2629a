// The answers of the intake (POST /e), with their CORS headers: as a Response, and as the answer of the fast path.

import { toErrorResponse } from '../../http/error-response.ts'
import { type FastResponse, toHeaderLines } from '../../http/fast-path/response-text.ts'
import { requestId } from '../../http/request-id.ts'
import { toFailure } from '../../storage/database/errors.ts'

export interface IntakeAnswer {
  status: number
  /** ASCII. */
  json: string
  headers?: Record<string, string>
}

/** No character of an event id needs escaping in JSON. */
export const toEventIdAnswer = (eventId: string): IntakeAnswer => ({
  status: 200,
  json: `{"e":"${eventId}"}`,
})

export const toErrorAnswer = (
  status: number,
  error: string,
  headers?: Record<string, string>,
): IntakeAnswer => ({ status, json: JSON.stringify({ error }), headers })

export const NOT_TRACKED: IntakeAnswer = { status: 200, json: '{"e":null}' }
export const TOO_LARGE = toErrorAnswer(413, 'Page view too large')

const HEADERS = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After',
  'Cache-Control': 'no-store',
}
const HEADER_LINES = toHeaderLines(HEADERS)

export const toResponse = ({ status, json, headers }: IntakeAnswer) =>
  new Response(json, { status, headers: headers ? { ...HEADERS, ...headers } : HEADERS })

export const toFastResponse = ({ status, json, headers }: IntakeAnswer): FastResponse => ({
  status,
  headers: headers ? HEADER_LINES + toHeaderLines(headers) : HEADER_LINES,
  body: json,
})

export function toFailureResponse(error: unknown, givenRequestId: string | null): Response {
  const response = toErrorResponse(toFailure(error), requestId(givenRequestId))
  for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value)
  return response
}

/** For pages that send JSON with that type. The snippet sends text, for which browsers send no preflight request. */
export const toPreflightResponse = () =>
  new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'POST, OPTIONS',
      'Access-Control-Allow-Headers': 'Content-Type',
      'Access-Control-Max-Age': '86400',
    },
  })
