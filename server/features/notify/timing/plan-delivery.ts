// Computes when a delivery is due: at once, or at the end of the digest's hour or day, and never in the quiet hours of
// its channel. Pure.

import { isTimeZone } from '../../../lib/date-range.ts'

export const DIGESTS = ['hour', 'day'] as const
export type Digest = (typeof DIGESTS)[number]

export interface QuietHours {
  /** `22:00`, on the clock of the time zone. */
  start: string
  /** The first minute after them. An end before the start is on the next day. */
  end: string
  timezone: string
}

export interface DeliveryTiming {
  digest: Digest | null
  quietHours: QuietHours | null
}

/** When the digest of a day is sent, on the clock of the quiet hours' time zone, else in UTC. */
const DAY_DIGEST_AT = '08:00'

/** The columns of a channel. */
export interface TimingColumns {
  digest: string | null
  quiet_hours: string | null
}

export const readTiming = ({ digest, quiet_hours: quiet }: TimingColumns): DeliveryTiming => ({
  digest: digest as Digest | null,
  quietHours: quiet === null ? null : JSON.parse(quiet),
})

/** @param at milliseconds */
export function planDelivery({ digest, quietHours }: DeliveryTiming, at: number): number {
  const due = digest === null ? at : findDigestEnd(digest, quietHours?.timezone ?? 'UTC', at)
  return leaveQuietHours(quietHours, due)
}

/** @returns `due`, or the end of the quiet hours that it lies in */
export function leaveQuietHours(quiet: QuietHours | null, due: number): number {
  // A time zone can leave the list of a later version of the runtime.
  if (quiet === null || !isTimeZone(quiet.timezone)) return due
  const local = toLocal(due, quiet.timezone)
  const time = local.toPlainTime().toString({ smallestUnit: 'minute' })
  const overMidnight = quiet.end < quiet.start
  const inside = overMidnight
    ? time >= quiet.start || time < quiet.end
    : time >= quiet.start && time < quiet.end
  if (!inside) return due
  const day = local.toPlainDate().add({ days: overMidnight && time >= quiet.start ? 1 : 0 })
  return findMoment(day, quiet.end, quiet.timezone, due)
}

function findDigestEnd(digest: Digest, timezone: string, at: number): number {
  const zone = isTimeZone(timezone) ? timezone : 'UTC'
  const local = toLocal(at, zone)
  if (digest === 'hour')
    return local.round({ smallestUnit: 'hour', roundingMode: 'floor' }).add({ hours: 1 }).epochMilliseconds
  const today = findMoment(local.toPlainDate(), DAY_DIGEST_AT, zone, 0)
  return today > at ? today : findMoment(local.toPlainDate().add({ days: 1 }), DAY_DIGEST_AT, zone, at)
}

const toLocal = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)

/**
 * The first moment after `after` at which clocks show the time. Where summer time begins and clocks skip it, the moment
 * of the skip; where clocks show it twice, the second time once the first is over.
 */
function findMoment(day: Temporal.PlainDate, time: string, zone: string, after: number): number {
  const plain = day.toPlainDateTime(Temporal.PlainTime.from(time))
  const moment = plain.toZonedDateTime(zone)
  if (!moment.toPlainDateTime().equals(plain)) {
    const skip = moment.getTimeZoneTransition('previous')
    return (skip ?? moment).epochMilliseconds
  }
  return moment.epochMilliseconds > after
    ? moment.epochMilliseconds
    : plain.toZonedDateTime(zone, { disambiguation: 'later' }).epochMilliseconds
}
