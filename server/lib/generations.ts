// A bounded map in two generations. When the current generation is full, it becomes the previous one, and the entries of
// the previous one are dropped unless they were used. A use costs one look-up; an exact LRU would cost a deletion and an
// insertion.

export interface GenerationsOptions<T> {
  /** The most entries of one generation. */
  entriesMax: number
  /** The most bytes of one generation, as `weigh` estimates them. */
  bytesMax?: number
  /** About how many bytes of memory an entry takes. It must be the same for the entry's whole life. */
  weigh?: (key: string, value: T) => number
}

export interface Generations<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
  delete(key: string): void
  /** Visits every entry. */
  deleteWhere(matches: (value: T) => boolean): void
  clear(): void
  /** The weight of both generations. */
  bytes(): number
}

interface Generation<T> {
  entries: Map<string, T>
  bytes: number
}

export function createGenerations<T extends object>({
  entriesMax,
  bytesMax = Number.POSITIVE_INFINITY,
  weigh = () => 0,
}: GenerationsOptions<T>): Generations<T> {
  const empty = (): Generation<T> => ({ entries: new Map(), bytes: 0 })
  let current = empty()
  let previous = empty()

  function set(key: string, value: T) {
    const bytes = weigh(key, value)
    // An entry that would fill a generation by itself must not push all others out.
    if (bytes > bytesMax) return remove(key)
    remove(key, current)
    if (current.entries.size >= entriesMax || current.bytes + bytes > bytesMax) {
      previous = current
      current = empty()
    }
    current.entries.set(key, value)
    current.bytes += bytes
  }

  function remove(key: string, from?: Generation<T>) {
    for (const generation of from ? [from] : [current, previous]) {
      const value = generation.entries.get(key)
      if (value === undefined) continue
      generation.entries.delete(key)
      generation.bytes -= weigh(key, value)
    }
  }

  return {
    set,
    get(key) {
      const value = current.entries.get(key)
      if (value !== undefined) return value
      const older = previous.entries.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    delete: (key) => remove(key),
    deleteWhere(matches) {
      for (const generation of [current, previous])
        for (const [key, value] of generation.entries) if (matches(value)) remove(key, generation)
    },
    clear() {
      current = empty()
      previous = empty()
    },
    bytes: () => current.bytes + previous.bytes,
  }
}
