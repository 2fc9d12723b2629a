// Matches a domain against the filters of a question about unknown slugs.

import type { FilterValues } from '../filter.ts'

/** Says of a domain whether the filters of a question take it. */
export function isDomainAsked(
  { defaultDomain }: { defaultDomain: string },
  filters: FilterValues[],
): (domain: string) => boolean {
  return (domain) => {
    const name = (domain || defaultDomain).toLowerCase()
    return filters.every(({ values, negate }) => values.includes(name) !== negate)
  }
}
