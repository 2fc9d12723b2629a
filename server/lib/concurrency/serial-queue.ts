// Runs asynchronous tasks one after another, in the order in which they were added.

export type SerialQueue = <T>(work: () => Promise<T>) => Promise<T>

/** The returned function adds work. A failure rejects the promise of its own caller, and the next work still runs. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}
