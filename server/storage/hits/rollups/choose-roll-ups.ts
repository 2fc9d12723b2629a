// Chooses the roll-ups that can answer a question exactly. Pure: it knows neither the engine nor the rolled-up days.

import { toNullLabel } from '../../filter-grammar.ts'
import type { HitColumn, HitFilter, HitQuery } from '../hit-engine.ts'
import {
  CLICK_COLUMNS,
  type ClickColumn,
  PEOPLE_COLUMNS,
  type PeopleColumn,
  type RollUpSet,
} from './rollup.ts'

export interface RollUpChoice {
  set: RollUpSet
  /** The answer is a sum over values: it is exact on days when each visitor has one value only. */
  needsUnmixed: boolean
}

/** @returns undefined for a question that only hits can answer */
export function chooseRollUps(query: HitQuery): RollUpChoice | undefined {
  const { filters, groupBy, imported, classes, outcomes = ['redirect'] } = query
  if (classes.length === 0 || classes.some((each) => each !== 'human')) return undefined
  if (outcomes.length !== 1) return undefined
  const isSum = groupBy.by === 'total' || groupBy.by === 'time'
  if (outcomes[0] === 'landing')
    return isSum && filters.length === 0 && imported === undefined
      ? { set: 'landings', needsUnmixed: false }
      : undefined
  if (outcomes[0] !== 'redirect') return undefined
  if (imported !== undefined)
    return imported && isSum && filters.length === 0 ? { set: 'imports', needsUnmixed: false } : undefined
  if (isSum && filters.length === 0) return { set: 'times', needsUnmixed: false }
  if (!filters.every(isRowFilter) || !hasUsualNullName(query)) return undefined
  const columns = new Set<HitColumn>(filters.map(({ column }) => column))
  if (!isSum) columns.add(groupBy.by === 'linkDay' ? 'linkId' : (groupBy.by as HitColumn))
  if ([...columns].every(isPeopleColumn)) return { set: 'people', needsUnmixed: true }
  const [column] = columns
  const set = columns.size === 1 && column !== undefined ? toSet(column) : undefined
  return set && { set, needsUnmixed: isSum && !isOneValue(filters) }
}

const isPeopleColumn = (column: string): column is PeopleColumn =>
  PEOPLE_COLUMNS.some((each) => each === column)

const toSet = (column: string): RollUpSet | undefined =>
  column === 'linkId' ? 'links' : CLICK_COLUMNS.find((each): each is ClickColumn => each === column)

/** True if the answer names missing values as roll-ups do. */
const hasUsualNullName = ({ groupBy }: HitQuery) =>
  !('nullAs' in groupBy) || groupBy.by === 'linkId' || groupBy.nullAs === toNullLabel(groupBy.by)

/** False for a filter that distinguishes a missing value from its name, because roll-ups have one row for both. */
function isRowFilter({ column, values }: HitFilter): boolean {
  if (column === 'linkId') return !values.some((value) => value === null)
  const name = toNullLabel(column)
  const ignoresCase = column === 'device' || column === 'browser' || column === 'os'
  const isName = (value: string | number | null) =>
    value !== null && (ignoresCase ? `${value}`.toLowerCase() === name.toLowerCase() : `${value}` === name)
  return values.some(isName) === values.includes(null)
}

/** True if the filters select at most one row of each day, which has the exact visitors. */
function isOneValue(filters: readonly HitFilter[]): boolean {
  const [filter] = filters
  if (filters.length !== 1 || !filter || filter.negate) return false
  return new Set(filter.values.map((value) => value ?? toNullLabel(filter.column))).size <= 1
}
