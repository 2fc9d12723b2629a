// SQL parts of questions about hits and about leads: the condition of a filter, and the bucket of a time. Every
// value is bound. A dialect has the differences between engines.

export type SqlValue = number | string | number[] | string[]

/** Adds a value to the statement's parameters. @returns the placeholder of the value */
export type ValueBinder = (value: SqlValue) => string

export interface FilterDialect {
  /** The placeholder of the n-th value, counted from 1. */
  placeholder(n: number, value: SqlValue): string
  /** The condition that `column` is in the list. null or false if the column is null. */
  isInList(column: string, list: string): string
  lower(column: string): string
}

export interface ColumnFilter<Column extends string> {
  column: Column
  /**
   * The filter matches any of these values; an empty list matches no row. null matches a row without a value.
   * Device, browser and os match without regard to case, the other columns exactly.
   */
  values: (string | number | null)[]
  /** Matches all other rows instead, including rows without a value. */
  negate: boolean
}

/** A statement with its values, and the reader of its rows. */
export interface Statement<Answer> {
  text: string
  params: SqlValue[]
  read(rows: readonly (readonly unknown[])[]): Answer
}

/** Collects the values of one statement. */
export function createBinder({ placeholder }: Pick<FilterDialect, 'placeholder'>) {
  const params: SqlValue[] = []
  return { params, bind: (value: SqlValue) => placeholder(params.push(value), value) }
}

/** Names of products, which people write in any case: `chrome`, `iOS`. */
const CASE_INSENSITIVE: ReadonlySet<string> = new Set(['device', 'browser', 'os'])

/** @param columns the name of each column in the statement */
export function toFilterSql<Column extends string>(
  { column, values, negate }: ColumnFilter<Column>,
  columns: Record<Column, string>,
  dialect: FilterDialect,
  bind: ValueBinder,
): string {
  const present = values.filter((value) => value !== null)
  const alternatives = [
    ...(present.length > 0 ? [toMemberSql(column, present, columns, dialect, bind)] : []),
    ...(present.length < values.length ? [`${columns[column]} IS NULL`] : []),
  ]
  const condition = alternatives.length === 0 ? 'false' : `(${alternatives.join(' OR ')})`
  // In SQL a null is neither in a list nor outside it. In a filter it is outside.
  return negate ? `NOT coalesce(${condition}, false)` : condition
}

export function toMemberSql<Column extends string>(
  column: Column,
  values: (string | number)[],
  columns: Record<Column, string>,
  dialect: FilterDialect,
  bind: ValueBinder,
): string {
  const ignoresCase = CASE_INSENSITIVE.has(column)
  const name = ignoresCase ? dialect.lower(columns[column]) : columns[column]
  if (column === 'linkId') return toAnyOfSql(name, values.map(Number), dialect, bind)
  const texts = values.map(String)
  return toAnyOfSql(name, ignoresCase ? texts.map((text) => text.toLowerCase()) : texts, dialect, bind)
}

/**
 * Up to this number, each value is in the statement, so that an engine can use its statistics. More values are one list.
 */
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
 * Computes the start of a time's bucket by arithmetic, so no row needs a look-up or a time zone. Successive buckets
 * of the same length are one run. A year of days has five runs, because each of the two days when clocks change is a separate
 * run.
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
