// SQL that replaces unknown names of browsers, systems and devices by `Other`, the same in each hit engine.

import { OTHER } from '../clients/client-names.ts'
import { CLOSED_DIMENSIONS, CLOSED_NAMES } from '../clients/closed-names.ts'

/** @param quote writes a text as a literal of the engine */
export function toClosedNamesSql(quote: (text: string) => string): { isOpen: string; assignments: string } {
  const openOf = (dimension: (typeof CLOSED_DIMENSIONS)[number]) =>
    `(${dimension} IS NOT NULL AND ${dimension} NOT IN (${CLOSED_NAMES[dimension].map(quote).join(', ')}))`
  return {
    isOpen: CLOSED_DIMENSIONS.map(openOf).join(' OR '),
    assignments: CLOSED_DIMENSIONS.map(
      (dimension) =>
        `${dimension} = CASE WHEN ${openOf(dimension)} THEN ${quote(OTHER)} ELSE ${dimension} END`,
    ).join(', '),
  }
}
