// Slugs, keys and tags that a dry run would have created, for later rows of the same file. They are stored as numbers, so a million
// take about 30 MB.

/**
 * `slug`: a domain with a slug in its form for matching. `exact`: with the slug as written. `same`: also with its destination.
 * `key`: the link's deduplication key. `tag`: a tag in its form for matching.
 */
export type DryRunNameKind = 'slug' | 'exact' | 'same' | 'key' | 'tag'

export interface DryRunNames {
  has(kind: DryRunNameKind, name: string): boolean
  add(kind: DryRunNameKind, name: string): void
}

const toNumber = (text: string) => Number(BigInt.asUintN(53, BigInt(Bun.hash(text))))

/** In one of ten thousand imports of a million names, two names have the same number. */
export function createDryRunNames(): DryRunNames {
  const numbers = new Set<number>()
  return {
    has: (kind, name) => numbers.has(toNumber(`${kind} ${name}`)),
    add: (kind, name) => void numbers.add(toNumber(`${kind} ${name}`)),
  }
}

/** For an import that is not a dry run, because then the database has the names. */
export const NO_DRY_RUN_NAMES: DryRunNames = { has: () => false, add: () => {} }
