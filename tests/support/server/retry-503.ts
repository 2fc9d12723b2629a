// Repeats a request while it is answered with 503: analytics pause while the clicks of a deleted workspace are erased.

/** Sends again until the answer is not 503 or the time is over. Writes never pause, so no write happens twice. */
export async function retryWhile503<T extends { status: number }>(
  send: () => Promise<T>,
  withinMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const answer = await send()
    if (answer.status !== 503 || Date.now() > deadline) return answer
    await Bun.sleep(20)
  }
}
