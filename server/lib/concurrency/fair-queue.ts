// Runs a few works at a time, and lets the groups that wait take turns: a group with many works waits longer, and the
// others do not.

export interface FairQueue<Group> {
  run<T>(group: Group, work: () => Promise<T>): Promise<T>
}

/**
 * @param places how many works run at once
 * @param placesOfGroup how many of them may be of one group
 */
export function createFairQueue<Group>(places: number, placesOfGroup = places): FairQueue<Group> {
  let free = places
  /** How many works of a group run. */
  const running = new Map<Group, number>()
  /** In the order of their turns. No group is here without a work. */
  const waiting = new Map<Group, (() => void)[]>()

  function startNext() {
    for (const [group, works] of waiting) {
      if (free === 0) return
      const beside = running.get(group) ?? 0
      if (beside === placesOfGroup) continue
      // A group that has more goes behind the others. The loop comes to it again.
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
