// Keeps questions out of the moment in which hits change tables. DuckDB (seen with 1.5.6) shows a reader that runs during
// the commit of a large transaction what it has inserted and, still, what it has deleted: every hit of a run twice.

/** How long a commit waits for a moment without questions before it holds up those that come. */
const PATIENCE_MS = 2_000

export interface ReadWriteLock {
  /** With others, and never while somebody is alone. */
  shared<T>(work: () => Promise<T>): Promise<T>
  /** When nobody is inside; who comes meanwhile waits. One at a time. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export function createReadWriteLock(patienceMs = PATIENCE_MS): ReadWriteLock {
  let inside = 0
  /** Set while the gate is shut. */
  let shut: Promise<void> | undefined
  const leftEmpty: (() => void)[] = []

  async function empty(): Promise<void> {
    if (inside > 0) await new Promise<void>((resolve) => leftEmpty.push(resolve))
  }

  return {
    async shared(work) {
      while (shut) await shut
      inside++
      try {
        return await work()
      } finally {
        inside--
        if (inside === 0) for (const resolve of leftEmpty.splice(0)) resolve()
      }
    },
    async exclusive(work) {
      let late: Timer | undefined
      const patience = new Promise<void>((resolve) => {
        late = setTimeout(resolve, patienceMs)
      })
      await Promise.race([empty(), patience])
      clearTimeout(late)
      while (shut) await shut
      const opened = Promise.withResolvers<void>()
      shut = opened.promise
      try {
        await empty()
        return await work()
      } finally {
        shut = undefined
        opened.resolve()
      }
    },
  }
}
