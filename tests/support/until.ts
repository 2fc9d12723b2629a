// Waits for a condition: tests never wait for a fixed time.

/**
 * Resolves with the first value of `condition` that is truthy. The pauses between the calls grow from 5 to 100 ms: what
 * the test waits for needs the processor too.
 * @param what completes the sentence "waited for: …" in the error
 * @throws after `withinMs`
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  withinMs = 60_000,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + withinMs
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.3, 100)) {
    const value = await condition()
    if (value) return value as NonNullable<T>
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms for: ${what}`)
    await Bun.sleep(pauseMs)
  }
}
