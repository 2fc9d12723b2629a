// Looks up sources and channels of leads row by row, outside of the database: SQLite runs on the event loop, and there the
// same in SQL took 30 to 90 ms for 500 leads. PostgreSQL counts with `origin-sql.ts`.

import type { ColumnFilter } from '../../storage/filter-sql.ts'
import { isOriginDimension, type OriginDimension } from '../../storage/sources/origin-sql.ts'
import { toSource, toTrafficChannel } from '../../storage/sources/traffic-channel.ts'
import type { VisitorParts } from './merge-leads.ts'

/** The columns that source and channel are made of. */
export const ORIGIN_ROW_COLUMNS = 'referrer, utm_source, utm_medium'
export interface OriginRow {
  referrer: string | null
  utm_source: string | null
  utm_medium: string | null
}

export type LeadOriginFilter = ColumnFilter<OriginDimension>

export function splitOriginFilters<Column extends string>(filters: ColumnFilter<Column>[]) {
  const isOrigin = ({ column }: ColumnFilter<Column>) => isOriginDimension(column)
  return {
    stored: filters.filter((filter) => !isOrigin(filter)),
    origins: filters.filter(isOrigin) as unknown as LeadOriginFilter[],
  }
}

export const toOrigin = ({ referrer, utm_source, utm_medium }: OriginRow, dimension: OriginDimension) =>
  dimension === 'source'
    ? toSource({ referrer, utmSource: utm_source })
    : toTrafficChannel({ referrer, utmSource: utm_source, utmMedium: utm_medium })

export const passesOriginFilters = (row: OriginRow, filters: LeadOriginFilter[]): boolean =>
  filters.every(({ column, values, negate }) => values.includes(toOrigin(row, column)) !== negate)

/** @param groupBy the key of each row becomes this dimension, where one is given */
export const toOriginParts = (
  rows: (VisitorParts & OriginRow)[],
  filters: LeadOriginFilter[],
  groupBy: { dimension: OriginDimension; nullAs: string } | null,
): VisitorParts[] =>
  rows
    .filter((row) => passesOriginFilters(row, filters))
    .map(({ key, visitor, parts, ...row }) => ({
      key: groupBy ? (toOrigin(row, groupBy.dimension) ?? groupBy.nullAs) : key,
      visitor,
      parts,
    }))
