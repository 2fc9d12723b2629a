// Slugs and keys that a dry run would have created, for later rows of the same file. A million take about 30 MB,
// because only numbers are kept.

/**
 * `slug`: a domain with a slug as it is matched. `exact`: with the slug as it is written. `same`: with its destination
 * too. `key`: what names the link in its tool.
 */
export type DryRunNameKind = 'slug' | 'exact' | 'same' | 'key'

export interface DryRunNames {
  has(kind: DryRunNameKind, name: string): boolean
  add(kind: DryRunNameKind, name: string): void
}

const toNumber = (text: string) => Number(BigInt.asUintN(53, BigInt(Bun.hash(text))))

/** Two of a million names are taken for one another once in ten thousand imports. */
export function createDryRunNames(): DryRunNames {
  const numbers = new Set<number>()
  return {
    has: (kind, name) => numbers.has(toNumber(`${kind} ${name}`)),
    add: (kind, name) => void numbers.add(toNumber(`${kind} ${name}`)),
  }
}

/** For an import that is no dry run: the database knows. */
export const NO_DRY_RUN_NAMES: DryRunNames = { has: () => false, add: () => {} }
