// Runs a few tasks at a time, and lets waiting groups take turns: a group with many tasks delays only itself.

export interface FairQueue<Group> {
  run<T>(group: Group, work: () => Promise<T>): Promise<T>
}

/**
 * @param places maximum number of running tasks
 * @param placesOfGroup maximum of one group
 */
export function createFairQueue<Group>(places: number, placesOfGroup = places): FairQueue<Group> {
  let free = places
  /** Number of running tasks of a group. */
  const running = new Map<Group, number>()
  /** In the order of their turns. Each group has at least one task. */
  const waiting = new Map<Group, (() => void)[]>()

  function startNext() {
    for (const [group, works] of waiting) {
      if (free === 0) return
      const beside = running.get(group) ?? 0
      if (beside === placesOfGroup) continue
      // A group with more tasks goes to the end of the queue.
      waiting.delete(group)
      const start = works.shift()
      if (works.length > 0) waiting.set(group, works)
      free--
      running.set(group, beside + 1)
      start?.()
    }
  }

  return {
    async run(group, work) {
      const turn = Promise.withResolvers<void>()
      const works = waiting.get(group)
      if (works) works.push(turn.resolve)
      else waiting.set(group, [turn.resolve])
      startNext()
      await turn.promise
      try {
        return await work()
      } finally {
        free++
        const left = (running.get(group) as number) - 1
        if (left > 0) running.set(group, left)
        else running.delete(group)
        startNext()
      }
    },
  }
}
