// Splits lists into requests: the API takes and lists at most 100 things at a time.

/** The API's maximum for one page of a list and for one bulk request. */
export const BULK_SIZE = 100

export const toChunks = <T>(list: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / BULK_SIZE) }, (_, i) =>
    list.slice(i * BULK_SIZE, (i + 1) * BULK_SIZE),
  )
