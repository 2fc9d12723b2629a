// A bounded cache for values that are computed from a text, such as a parsed user agent: hits repeat nearly all texts.

import { createGenerations } from './generations.ts'

export interface GenerationCache<T> {
  get(text: string): T
  clear(): void
}

/** A longer text is computed each time: strangers choose these texts, and memory must not hold their longest ones. */
const TEXT_MAX = 2048

/** Keeps at least the `bound / 2` texts that were used last, and never more than `bound`. */
export function createGenerationCache<T extends object>(
  bound: number,
  make: (text: string) => T,
): GenerationCache<T> {
  const values = createGenerations<T>({ entriesMax: bound / 2 })
  return {
    get(text) {
      const cached = values.get(text)
      if (cached) return cached
      const value = make(text)
      if (text.length <= TEXT_MAX) values.set(text, value)
      return value
    },
    clear: values.clear,
  }
}
