// Measures how long a connection has made no progress. Each byte adds a little time. A slow client is accepted, but
// not one that sends or receives a single byte at intervals.

export interface Progress {
  /** On `performance.now()`. */
  sinceMs: number
}

/** 500 bytes a second, the least that Apache's mod_reqtimeout asks of a client. */
const MS_PER_BYTE = 2

export const createProgress = (): Progress => ({ sinceMs: performance.now() })

/** @param bytes -1 if the end was closed */
export function addBytes(progress: Progress, bytes: number): void {
  if (bytes > 0) progress.sinceMs = Math.min(progress.sinceMs + bytes * MS_PER_BYTE, performance.now())
}
