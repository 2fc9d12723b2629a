// The query parameters of a short URL that its workspace keeps (docs/contract.md §14).

import { cleanText } from '../../lib/clean-text.ts'
import { KEPT_VALUE_MAX } from '../../storage/hits/kept-params.ts'

/**
 * @param query without its `?` @param admit gives the value to store
 * @returns JSON of the values by name, in the order of the names; '' where the query has none of them
 */
export function extractKeptParams(
  query: string,
  names: readonly string[],
  admit: (name: string, value: string) => string,
): string {
  if (query === '') return ''
  const parameters = new URLSearchParams(query)
  const kept: [name: string, value: string][] = []
  for (const name of names) {
    // As for campaigns, the first one counts, and an empty one is none.
    const value = cleanText(parameters.get(name), KEPT_VALUE_MAX)
    if (value !== null) kept.push([name, admit(name, value)])
  }
  return kept.length === 0 ? '' : JSON.stringify(Object.fromEntries(kept))
}
