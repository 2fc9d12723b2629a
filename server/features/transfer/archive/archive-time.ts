// Times in an archive, from 1970 to 2200. The range "all time" begins at the first of them, so a bogus year would break
// analytics.

import { z } from 'zod'

const END = Date.UTC(2201, 0)
const MESSAGE = 'must be a time from 1970 to 2200'

/** Milliseconds since 1970. */
export const archiveMoment = z.int(MESSAGE).min(0, MESSAGE).lt(END, MESSAGE)

/** ISO 8601. Its value is in milliseconds. */
export const archiveTime = z.iso
  .datetime(MESSAGE)
  .transform((value) => Date.parse(value))
  .pipe(archiveMoment)

/** `2026-01-31` */
export const archiveDay = z.iso
  .date(MESSAGE)
  .refine((day) => archiveMoment.safeParse(Date.parse(day)).success, MESSAGE)
