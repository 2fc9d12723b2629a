// Bounds how long a caller waits for a promise.

/**
 * Resolves like `work`, or after `ms` with the result of `onTimeout`; rejects when `onTimeout` throws. The work
 * itself continues.
 */
export function withTimeout<T>(work: Promise<T>, ms: number, onTimeout: () => T): Promise<T> {
  const { promise: expired, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  return Promise.race([work, expired.then(onTimeout)]).finally(() => clearTimeout(timer))
}
