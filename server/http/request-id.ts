// The id of a request: the log has it, and the answer has it in X-Request-Id.

import { findRequest } from '../lib/telemetry/request-context.ts'

const ACCEPTED = /^[A-Za-z0-9-]{8,64}$/

/** @returns the id of the running request; outside of one, the caller's id if it is harmless, else a new one */
export function requestId(given: string | null | undefined): string {
  const request = findRequest()
  if (request) return request.id
  return given && ACCEPTED.test(given) ? given : crypto.randomUUID()
}
