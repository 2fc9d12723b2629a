// Bounds how long a caller waits for a promise.

/**
 * Resolves as `work` does, or after `ms` with what `onTimeout` returns; rejects when `onTimeout` throws. The work itself
 * goes on.
 */
export function withTimeout<T>(work: Promise<T>, ms: number, onTimeout: () => T): Promise<T> {
  const { promise: expired, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  return Promise.race([work, expired.then(onTimeout)]).finally(() => clearTimeout(timer))
}
