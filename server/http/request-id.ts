// The id of a request: the log has it, and the answer has it in X-Request-Id.

const ACCEPTED = /^[A-Za-z0-9-]{8,64}$/

/** @returns the caller's id when it is harmless, else a new one */
export function requestId(given: string | null | undefined): string {
  return given && ACCEPTED.test(given) ? given : crypto.randomUUID()
}
