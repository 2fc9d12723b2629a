// The values of the column `submissions.announced`.

/** A test stays a test: it is never announced and never counted, because counts use announced rows only. */
export const ANNOUNCED = { no: 0, yes: 1, test: 2 }
