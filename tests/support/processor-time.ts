// Measures processor time, so that tests of speed do not depend on other processes. A wall clock also counts the time
// that other processes use.

const TICK_MS = 10

/** @returns the milliseconds of this thread's processor time that `work` took */
export async function measureProcessorMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

export interface QuietClock {
  /** Milliseconds since the start: the larger of the time that this thread worked and the time that it waited. */
  elapsed(): number
  stop(): void
}

/**
 * A clock for work that also waits. It counts ticks of a 10 ms timer: a late tick counts 10 ms too, because other
 * processes had the processor for the rest. Work that blocks this thread is in the thread's processor time.
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
