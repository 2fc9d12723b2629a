// The SELECTs that compute the roll-ups of a day from its hits, and those of a month from its days. They are the same in every
// engine; a dialect has the differences.

import { toNullLabel } from '../../filter-grammar.ts'
import type { HitDimension } from '../hit.ts'
import { HIT_COLUMNS } from '../hit-columns.ts'
import { toSetNumber, toValueTable } from './rolled-sql.ts'
import { CLICK_COLUMNS, PEOPLE_COLUMNS, SLOT_MS } from './rollup.ts'

/** The number of top values of a month in `roll_heads`. The rest is read only if it can be in an answer. */
export const HEAD_VALUES = 1000

/** A table of sums, its columns after `workspace_id` and `day`, and the SELECT that fills them. */
export interface RollUpStatement {
  table: string
  columns: string
  select: string
}

const PEOPLE = PEOPLE_COLUMNS.join(', ')

/**
 * The columns of the table `source` that `listDayStatements` reads: one row for each click or landing page of a person on
 * the day.
 * @param toSlot the number of the quarter hour of a moment
 * @returns a select list over hits, without source and channel
 */
export const toSourceColumns = (toSlot: (slotMs: number) => string): string =>
  [
    'workspace_id, visitor, link_id',
    `${toSlot(SLOT_MS)} AS slot`,
    "(outcome = 'landing') AS is_landing",
    '(import_id IS NOT NULL) AS is_import',
    ...PEOPLE_COLUMNS.map((column) => `coalesce(${column}, '${toNullLabel(column)}') AS ${column}`),
    ...STORED_CLICK_COLUMNS.map((column) => HIT_COLUMNS[column]),
  ].join(', ')

const STORED_CLICK_COLUMNS = CLICK_COLUMNS.filter(
  (column): column is HitDimension & typeof column => column !== 'source' && column !== 'channel',
)

/** The condition of the hits that roll-ups count. */
export const ROLLED_HITS = "class = 'human' AND outcome IN ('redirect', 'landing')"

/** @param source the table of `toSourceColumns`, with the columns `source` and `channel` @param day the number of the day */
export function listDayStatements(source: string, day: number): RollUpStatement[] {
  const clicks = `(SELECT * FROM ${source} WHERE NOT is_landing) AS clicks`
  const sums = 'sum(n) AS clicks, count(nullif(visitor, 0)) AS visitors'
  /** Sums by a value: first by visitor, so that each visitor counts once. */
  const toSums = (value: string) =>
    `SELECT workspace_id, ${value}, ${sums}
     FROM (SELECT workspace_id, ${value}, visitor, count(*) AS n FROM ${clicks} GROUP BY workspace_id, ${value}, visitor) AS visits
     GROUP BY workspace_id, ${value}`
  return [
    {
      table: 'roll_slots',
      columns: 'slot, clicks, firsts, lasts',
      select: toSlotSelect(clicks, day),
    },
    {
      table: 'roll_days',
      columns: 'clicks, visitors, landings, landing_visitors, imports, import_visitors',
      select: toDaySelect(source, day),
    },
    {
      table: 'roll_links',
      columns: 'value, clicks, visitors',
      select: `SELECT workspace_id, ${day} AS day, link_id, clicks, visitors FROM (${toSums('link_id')}) AS sums ORDER BY workspace_id, link_id`,
    },
    {
      table: 'roll_people',
      columns: `${PEOPLE}, clicks, visitors`,
      select: `SELECT workspace_id, ${day} AS day, ${PEOPLE}, clicks, visitors FROM (${toSums(PEOPLE)}) AS sums ORDER BY workspace_id, ${PEOPLE}`,
    },
    ...listValueStatements(clicks, day),
  ]
}

/** Each click column has rows with its own number. */
const listValueStatements = (clicks: string, day: number): RollUpStatement[] =>
  CLICK_COLUMNS.map((column) => {
    const stored = column === 'source' || column === 'channel' ? column : HIT_COLUMNS[column]
    const value = `coalesce(${stored}, '${toNullLabel(column)}')`
    return {
      table: `roll_${toValueTable(column)}`,
      columns: 'name, value, clicks, visitors',
      select: `SELECT workspace_id, ${day} AS day, ${toSetNumber(column)} AS name, named_value, sum(n), count(nullif(visitor, 0))
        FROM (SELECT workspace_id, ${value} AS named_value, visitor, count(*) AS n
          FROM ${clicks} GROUP BY workspace_id, named_value, visitor) AS visits
        GROUP BY workspace_id, named_value ORDER BY workspace_id, named_value`,
    }
  })

/** For each quarter hour: its clicks, and the number of visitors whose first or last click of the day is in it. */
function toSlotSelect(clicks: string, day: number): string {
  const visits = `SELECT workspace_id, visitor, min(slot) AS first_slot, max(slot) AS last_slot FROM ${clicks} WHERE visitor <> 0 GROUP BY workspace_id, visitor`
  return `SELECT workspace_id, ${day} AS day, slot, sum(c), sum(f), sum(l) FROM (
      SELECT workspace_id, slot, count(*) AS c, 0 AS f, 0 AS l FROM ${clicks} GROUP BY workspace_id, slot
      UNION ALL SELECT workspace_id, first_slot AS slot, 0 AS c, count(*) AS f, 0 AS l FROM (${visits}) AS firsts GROUP BY workspace_id, first_slot
      UNION ALL SELECT workspace_id, last_slot AS slot, 0 AS c, 0 AS f, count(*) AS l FROM (${visits}) AS lasts GROUP BY workspace_id, last_slot
    ) AS slots GROUP BY workspace_id, slot ORDER BY workspace_id, slot`
}

function toDaySelect(source: string, day: number): string {
  const kinds = [
    ['NOT is_landing', 'clicks', 'visitors'],
    ['is_landing', 'landings', 'landing_visitors'],
    ['is_import AND NOT is_landing', 'imports', 'import_visitors'],
  ] as const
  const byVisitor = kinds.map(
    ([condition, clicks]) => `sum(CASE WHEN ${condition} THEN 1 ELSE 0 END) AS ${clicks}_of`,
  )
  const sums = kinds.map(
    ([, clicks]) => `sum(${clicks}_of), sum(CASE WHEN ${clicks}_of > 0 AND visitor <> 0 THEN 1 ELSE 0 END)`,
  )
  return `SELECT workspace_id, ${day} AS day, ${sums.join(', ')}
    FROM (SELECT workspace_id, visitor, ${byVisitor.join(', ')} FROM ${source} GROUP BY workspace_id, visitor) AS visits
    GROUP BY workspace_id ORDER BY workspace_id`
}

/**
 * The days and sets in which some visitor of a workspace has two values. Run it after the other statements of the days.
 * @param where selects the rows of the days
 */
export function toMixedStatement(where: string): RollUpStatement {
  const values = ['roll_values', 'roll_urls'].map(
    (table) => `SELECT workspace_id, day, visitors, name AS set_number FROM ${table} WHERE ${where}`,
  )
  const sets = [
    `SELECT workspace_id, day, ${toSetNumber('links')} AS name, sum(visitors) AS s FROM roll_links WHERE ${where} GROUP BY workspace_id, day`,
    `SELECT workspace_id, day, ${toSetNumber('people')} AS name, sum(visitors) AS s FROM roll_people WHERE ${where} GROUP BY workspace_id, day`,
    `SELECT workspace_id, day, set_number AS name, sum(visitors) AS s FROM (${values.join(' UNION ALL ')}) AS named GROUP BY workspace_id, day, set_number`,
  ]
  return {
    table: 'roll_mixed',
    columns: 'name',
    select: `SELECT workspace_id, day, name FROM (${sets.join(' UNION ALL ')}) AS sets
      JOIN (SELECT workspace_id, day, visitors FROM roll_days WHERE ${where}) AS days USING (workspace_id, day)
      WHERE s <> visitors ORDER BY workspace_id, day, name`,
  }
}

/**
 * The sums of a month.
 * @param month the number of its first day @param where selects the rows of the month's days
 */
export function listMonthStatements(month: number, where: string): RollUpStatement[] {
  const toSums = (table: string, columns: string) =>
    `SELECT workspace_id, ${month} AS day, ${columns}, sum(clicks), sum(visitors) FROM ${table}
     WHERE ${where} GROUP BY workspace_id, ${columns} ORDER BY workspace_id, ${columns}`
  return [
    {
      table: 'roll_month_links',
      columns: 'value, clicks, visitors',
      select: toSums('roll_links', 'value'),
    },
    ...['values', 'urls'].map((table) => ({
      table: `roll_month_${table}`,
      columns: 'name, value, clicks, visitors',
      select: toSums(`roll_${table}`, 'name, value'),
    })),
    {
      table: 'roll_month_people',
      columns: `${PEOPLE}, clicks, visitors`,
      select: toSums('roll_people', PEOPLE),
    },
  ]
}

/**
 * The values with the most clicks of each column with more than `headValues` values. No other value has more clicks than `bound`.
 * @param where selects the rows of the month
 */
export function toHeadStatement(month: number, where: string, headValues = HEAD_VALUES): RollUpStatement {
  const rows = ['roll_month_values', 'roll_month_urls'].map(
    (table) => `SELECT workspace_id, value, clicks, name AS set_number FROM ${table} WHERE ${where}`,
  )
  return {
    table: 'roll_heads',
    columns: 'name, value, clicks, bound',
    select: `SELECT workspace_id, ${month} AS day, set_number, value, clicks, bound FROM (
        SELECT workspace_id, set_number, value, clicks, place,
          min(clicks) OVER (PARTITION BY workspace_id, set_number) AS bound,
          count(*) OVER (PARTITION BY workspace_id, set_number) AS places
        FROM (SELECT workspace_id, set_number, value, clicks,
            row_number() OVER (PARTITION BY workspace_id, set_number ORDER BY clicks DESC, value) AS place
          FROM (${rows.join(' UNION ALL ')}) AS sums
        ) AS ranked
        WHERE place <= ${headValues + 1}) AS heads
      WHERE place <= ${headValues} AND places > ${headValues} ORDER BY workspace_id, set_number, clicks DESC, value`,
  }
}
