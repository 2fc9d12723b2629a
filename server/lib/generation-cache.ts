// A bounded cache for values that are computed from a text, such as a parsed user agent: hits repeat nearly all texts.

export interface GenerationCache<T> {
  get(text: string): T
  clear(): void
}

/**
 * Keeps at least the `bound / 2` texts that were used last, and never more than `bound`. It has two generations instead
 * of one list in order: a cached text costs one look-up, and not a removal and an insertion.
 */
export function createGenerationCache<T extends object>(
  bound: number,
  make: (text: string) => T,
): GenerationCache<T> {
  let young = new Map<string, T>()
  let old = new Map<string, T>()
  return {
    get(text) {
      const cached = young.get(text)
      if (cached) return cached
      const value = old.get(text) ?? make(text)
      if (young.size >= bound / 2) {
        old = young
        young = new Map()
      }
      young.set(text, value)
      return value
    },
    clear() {
      young.clear()
      old.clear()
    },
  }
}
