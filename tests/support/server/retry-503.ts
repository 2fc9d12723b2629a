// Analytics pause while the clicks of a deleted workspace are removed, and some tests delete one.

/** Asks again while the answer is that. Writes are never paused, so nothing is done twice. */
export async function retryWhile503<T extends { status: number }>(
  ask: () => Promise<T>,
  withinMs = 10_000,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer.status !== 503 || Date.now() > deadline) return answer
    await Bun.sleep(20)
  }
}
