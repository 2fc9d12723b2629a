// What was worked out about a text is kept for when the same text comes again, which in a spool is nearly always.

export interface GenerationCache<T> {
  get(text: string): T
  clear(): void
}

/**
 * Keeps at least the `bound / 2` texts asked for last, and never more than `bound`. Two generations instead of one
 * list in order: a text that is known costs one look-up, not a removal and an insertion.
 */
export function createGenerationCache<T extends object>(
  bound: number,
  make: (text: string) => T,
): GenerationCache<T> {
  let young = new Map<string, T>()
  let old = new Map<string, T>()
  return {
    get(text) {
      const known = young.get(text)
      if (known) return known
      const made = old.get(text) ?? make(text)
      if (young.size >= bound / 2) {
        old = young
        young = new Map()
      }
      young.set(text, made)
      return made
    },
    clear() {
      young.clear()
      old.clear()
    },
  }
}
