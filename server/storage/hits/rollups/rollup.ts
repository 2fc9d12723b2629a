// The tables of roll-ups: sums of closed UTC days, with the same names and columns in every engine. A visitor belongs
// to one UTC day, so the visitors of several days are the sum of each day's.

import { DAY_MS } from '../../../lib/utc-day.ts'
import type { OriginDimension } from '../../sources/origin-sql.ts'
import type { HitDimension } from '../hit.ts'

/** A quarter of an hour. The offset of every time zone is a multiple of it; before 1979 some were not. */
export const SLOT_MS = 15 * 60 * 1000

/**
 * The last days are rolled up before older ones, because dashboards mostly ask for them. An import of decades removes the
 * marks of all its days, for every workspace.
 */
export const RECENT_DAYS = 400

/** Columns that describe a visitor, of which nearly every visitor has one value a day. `roll_people` has their combinations. */
export const PEOPLE_COLUMNS = [
  'country',
  'region',
  'city',
  'continent',
  'device',
  'browser',
  'os',
] as const satisfies readonly HitDimension[]
export type PeopleColumn = (typeof PEOPLE_COLUMNS)[number]

/** Columns that describe a click. Each has its own rows in `roll_values`. */
export const CLICK_COLUMNS = [
  'referrer',
  'referrerUrl',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'trigger',
  'source',
  'channel',
] as const satisfies readonly (HitDimension | OriginDimension)[]
export type ClickColumn = (typeof CLICK_COLUMNS)[number]

/**
 * The roll-ups of an answer.
 * - `times`: all clicks (`roll_days`), and quarter hours of a cut day (`roll_slots`)
 * - `landings`, `imports`: other sums of `roll_days`
 * - `links`, `people`: the tables of these names
 * - a click column: its rows in `roll_values`
 */
export type RollUpSet = 'times' | 'landings' | 'imports' | 'links' | 'people' | ClickColumn

/** The state of the roll-ups in a question's transaction, for its workspace, days and set. */
export interface RollUpState {
  /** Rolled days, as whole UTC days since 1970. */
  days: ReadonlySet<number>
  /** Months with sums, as the number of their first day. */
  months: ReadonlySet<number>
  /**
   * From the first day with hits of any workspace up to the day after the last one; empty without hits. It can be slightly
   * outdated, because it only estimates costs.
   */
  hitDays: { start: number; end: number }
  /** Days on which a visitor of the workspace has two values in the set, so that sums over values count the visitor twice. */
  mixed: ReadonlySet<number>
  /**
   * Months with top values in `roll_heads`, each with the highest possible clicks of its other values. Months with few values are
   * left out.
   */
  tails: ReadonlyMap<number, number>
}

export const toDay = (at: number) => Math.floor(at / DAY_MS)

/** The first day of the day's month. */
export const toMonth = (day: number): number => addMonths(day, 0)
export const toNextMonth = (day: number): number => addMonths(day, 1)

function addMonths(day: number, months: number): number {
  const date = new Date(day * DAY_MS)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1) / DAY_MS
}
