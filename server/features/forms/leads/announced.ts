// The values of the column `submissions.announced`.

/**
 * A test stays one: it is never announced, and no figure counts it, because each
 * counts rows that are announced.
 */
export const ANNOUNCED = { no: 0, yes: 1, test: 2 }
