// Callers that wait for the same event, all released at once.

export interface WaitList {
  /** Resolves with the next `release`. */
  wait(): Promise<void>
  release(): void
}

export function createWaitList(): WaitList {
  let waiting = Promise.withResolvers<void>()
  return {
    wait: () => waiting.promise,
    release() {
      const released = waiting
      waiting = Promise.withResolvers()
      released.resolve()
    },
  }
}
