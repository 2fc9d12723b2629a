// SQL differences between the hit engines.

import type { FilterDialect, ValueBinder } from '../filter-sql.ts'
import type { OriginJoinDialect, OriginLookUpDialect } from '../sources/origin-sql.ts'
import type { OwnColumn } from './hit-engine.ts'

interface CountDialect extends FilterDialect {
  /** Counts the visitors of a group exactly. Hits of `NO_VISITOR` have none. */
  countVisitors: string
  /** A table with the rows (`link_id`, `slot`), from two lists of equal length. */
  pairs(linkIds: string, slots: string): string
  /** The value of a kept parameter; null without it. */
  paramValue(name: string, bind: ValueBinder): string
}

export interface HitJoinDialect extends CountDialect, OriginJoinDialect {
  /**
   * Hits with only the columns for counting without filters. `hits` is a view, and planning all its columns takes
   * longer than counting the hits of a day.
   */
  countedHits: string
  /** The stored form of a column. If it is given, the visitors of the top values are counted as bits: see `toTopSql`. */
  storedAs(column: OwnColumn): StoredExpression
}
export type HitLookUpDialect = CountDialect & OriginLookUpDialect
export type HitDialect = HitJoinDialect | HitLookUpDialect

/** The stored columns behind a value, and the expression that computes the value. */
export interface StoredExpression {
  columns: string[]
  value: string
}

/** The additional parts for a query for last clicks (last-clicks-sql.ts). */
export interface SpanDialect extends Pick<FilterDialect, 'placeholder'> {
  /**
   * A table with the rows (`visitor`, `since`, `until`, `span`), from four lists of equal length. Visitors are texts.
   */
  spans(visitors: string, sinces: string, untils: string, spans: string): string
  /** The columns of the largest row of a group. Rows are compared column by column. */
  newest(columns: string[]): string
}
