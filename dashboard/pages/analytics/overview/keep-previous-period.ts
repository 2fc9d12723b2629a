// The period before ends a minute later every minute. Until that is answered the answer of a minute ago stands; but
// never the answer to another question, which would be compared with this one.

import type { QueryParameters } from '../../../api/client.ts'

const withoutEnd = (query: unknown) => JSON.stringify({ ...(query as QueryParameters), end: undefined })

/** As `placeholderData` of a query whose key ends with what is counted and what is asked. */
export const keepPreviousPeriod =
  (subject: string, asked: QueryParameters) =>
  <T>(data: T | undefined, query: { queryKey: readonly unknown[] } | undefined): T | undefined => {
    const [subjectThen, askedThen] = query?.queryKey.slice(-2) ?? []
    return subjectThen === subject && withoutEnd(askedThen) === withoutEnd(asked) ? data : undefined
  }
