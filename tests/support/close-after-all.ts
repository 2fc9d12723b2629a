// Closes what the tests of a file opened, in the reverse order.

import { afterAll } from 'bun:test'

/** Call it once in a test file. @returns a function that registers a callback for the end of the file */
export function closeAfterAll(): (close: () => unknown) => void {
  const closes: (() => unknown)[] = []
  afterAll(async () => {
    for (const close of closes.reverse()) await close()
  })
  return (close) => closes.push(close)
}
