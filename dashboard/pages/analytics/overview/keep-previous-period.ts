// Keeps the last answer on the screen while the previous period moves with the current time, unless anything else in
// the query has changed.

import type { QueryParameters } from '../../../api/client.ts'

const withoutEnd = (query: unknown) => JSON.stringify({ ...(query as QueryParameters), end: undefined })

/** A `placeholderData` function for a query whose key ends with the subject and the parameters. */
export const keepPreviousPeriod =
  (subject: string, parameters: QueryParameters) =>
  <T>(data: T | undefined, query: { queryKey: readonly unknown[] } | undefined): T | undefined => {
    const [lastSubject, lastParameters] = query?.queryKey.slice(-2) ?? []
    return lastSubject === subject && withoutEnd(lastParameters) === withoutEnd(parameters) ? data : undefined
  }
