// The pauses between the attempts of work that keeps failing.

export interface Backoff {
  /** The pause before the next attempt. Each call returns twice the previous pause, up to `longestMs`. */
  nextMs(): number
  /** After a success: the next pause is the shortest again. */
  reset(): void
}

/** The default keeps a short outage short (250 ms) and a long one cheap (one attempt in 10 s). */
export function createBackoff({ firstMs = 250, longestMs = 10_000 } = {}): Backoff {
  let pauseMs = firstMs
  return {
    nextMs() {
      const current = pauseMs
      pauseMs = Math.min(pauseMs * 2, longestMs)
      return current
    },
    reset() {
      pauseMs = firstMs
    },
  }
}
