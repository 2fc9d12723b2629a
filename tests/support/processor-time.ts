// Time as it would pass on a machine that does nothing else. What must be quick is measured with it: a wall clock also
// counts what other processes do.

const TICK_MS = 10

/** @returns the milliseconds of this thread's processor time that `work` took */
export async function measureProcessorMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

export interface QuietClock {
  /** Milliseconds since the start: what this thread worked or waited, whichever is more. */
  elapsed(): number
  stop(): void
}

/**
 * For work that waits as well. A timer of 10 ms that fires late has waited 10 ms all the same: the rest belongs to the
 * processes that had the processor meanwhile. What blocks this thread is in its processor time.
 */
export function startQuietClock(): QuietClock {
  const before = process.threadCpuUsage()
  let ticks = 0
  const timer = setInterval(() => ticks++, TICK_MS)
  return {
    elapsed() {
      const { user, system } = process.threadCpuUsage(before)
      return Math.max(ticks * TICK_MS, (user + system) / 1000)
    },
    stop: () => clearInterval(timer),
  }
}

/** @returns what `work` resolves with, and the milliseconds that it took by the quiet clock */
export async function timeQuietly<T>(work: () => T | Promise<T>): Promise<[T, number]> {
  const clock = startQuietClock()
  try {
    return [await work(), clock.elapsed()]
  } finally {
    clock.stop()
  }
}
