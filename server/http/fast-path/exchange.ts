// One request of a relayed connection and its answer: detects when both have ended and nothing else has begun.

import { createRequestFraming, type RequestFraming, readRequest } from './request-framing.ts'
import { createResponseFraming, type ResponseFraming, readResponse } from './response-framing.ts'

export interface Exchange {
  request: RequestFraming
  response: ResponseFraming
}

export const createExchange = (): Exchange => ({
  request: createRequestFraming(),
  response: createResponseFraming(),
})

/** @returns false once the exchange's end cannot be told any more */
export function readFromClient({ request }: Exchange, chunk: Buffer): boolean {
  readRequest(request, chunk)
  return request.state !== 'uncertain'
}

/** @returns false once the exchange's end cannot be told any more */
export function readFromServer({ request, response }: Exchange, chunk: Buffer): boolean {
  // The answer came before the end of the request, so the rest of the request is ambiguous.
  if (request.state !== 'complete') return false
  readResponse(response, chunk, request.method)
  return response.state !== 'uncertain'
}

export const hasEnded = ({ request, response }: Exchange) =>
  request.state === 'complete' && response.state === 'complete'
