// The name under which a request is found in the log, given back in X-Request-Id.

const ACCEPTED = /^[A-Za-z0-9-]{8,64}$/

/** The caller's own id when it is harmless, else a new one. */
export function requestId(given: string | null | undefined): string {
  return given && ACCEPTED.test(given) ? given : crypto.randomUUID()
}
