// What questions about hits and about leads are made of, as SQL: which rows a filter takes, and in which bucket a
// moment lies. Every value is bound; what engines say differently is in a dialect.

export type SqlValue = number | string | number[] | string[]

/** Keeps a value and says how the statement refers to it. */
export type ValueBinder = (value: SqlValue) => string

export interface FilterDialect {
  /** How the statement refers to its n-th value, counted from 1. */
  placeholder(n: number, value: SqlValue): string
  /** Whether `column` is in the list; null or false where it has no value. */
  isInList(column: string, list: string): string
  lower(column: string): string
}

export interface ColumnFilter<Column extends string> {
  column: Column
  /**
   * Any of these; none at all matches nothing. null is a row without a value. Exact, but for device, browser and os,
   * which match without regard to case.
   */
  values: (string | number | null)[]
  /** Everything else, rows without a value included. */
  negate: boolean
}

/** Names of products, which people write as they like: `chrome`, `iOS`. */
const CASE_INSENSITIVE: ReadonlySet<string> = new Set(['device', 'browser', 'os'])

/** @param columns what each word is in the statement */
export function toFilterSql<Column extends string>(
  { column, values, negate }: ColumnFilter<Column>,
  columns: Record<Column, string>,
  dialect: FilterDialect,
  bind: ValueBinder,
): string {
  const present = values.filter((value) => value !== null)
  const some = [
    ...(present.length > 0 ? [toMemberSql(column, present, columns, dialect, bind)] : []),
    ...(present.length < values.length ? [`${columns[column]} IS NULL`] : []),
  ]
  const any = some.length === 0 ? 'false' : `(${some.join(' OR ')})`
  // A row without a value is neither in a list nor outside it; for us it is outside.
  return negate ? `NOT coalesce(${any}, false)` : any
}

export function toMemberSql<Column extends string>(
  column: Column,
  values: (string | number)[],
  columns: Record<Column, string>,
  dialect: FilterDialect,
  bind: ValueBinder,
): string {
  const caseless = CASE_INSENSITIVE.has(column)
  const name = caseless ? dialect.lower(columns[column]) : columns[column]
  if (column === 'linkId') return toAnyOfSql(name, values.map(Number), dialect, bind)
  const texts = values.map(String)
  return toAnyOfSql(name, caseless ? texts.map((text) => text.toLowerCase()) : texts, dialect, bind)
}

/** Few values one by one, which an engine looks up in its statistics; many as a list. */
const MAX_INLINE_VALUES = 8

export function toAnyOfSql(
  name: string,
  values: number[] | string[],
  dialect: Pick<FilterDialect, 'isInList'>,
  bind: ValueBinder,
): string {
  if (values.length === 0) return 'false'
  if (values.length > MAX_INLINE_VALUES) return dialect.isInList(name, bind(values))
  return `${name} IN (${values.map((value) => bind(value)).join(', ')})`
}

/**
 * The start of a moment's bucket by arithmetic. Buckets of one length in a row are one run, so a year of days is five
 * runs (two of them the days the clocks change), and no row needs a look-up or a time zone.
 */
export function toBucketSql(moment: string, starts: number[], bind: ValueBinder): string {
  const runs = findEqualRuns(starts)
  const last = bind(starts.at(-1) ?? 0)
  if (runs.length === 0) return last
  const cases = runs.map(
    ({ start, step, end }) =>
      `WHEN ${moment} < ${bind(end)} THEN ${moment} - (${moment} - ${bind(start)}) % ${bind(step)}`,
  )
  return `CASE ${cases.join(' ')} ELSE ${last} END`
}

function findEqualRuns(starts: number[]): { start: number; step: number; end: number }[] {
  const runs: { start: number; step: number; end: number }[] = []
  for (const [index, end] of starts.entries()) {
    if (index === 0) continue
    const start = starts[index - 1] as number
    const run = runs.at(-1)
    if (run?.step === end - start) run.end = end
    else runs.push({ start, step: end - start, end })
  }
  return runs
}
