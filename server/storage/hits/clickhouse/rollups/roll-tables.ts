// The tables of roll-ups in ClickHouse: sums of days and months, and the marks that say which of them count.
// docs/adr/0060-roll-ups-in-clickhouse.md has the protocol.

import { DAY_MS } from '../../../../lib/utc-day.ts'
import { PEOPLE_COLUMNS } from '../../rollups/rollup.ts'

/** The sums of days. Every row has the random number (`roll`) of the roll-up that made it. */
export const DAY_SUM_TABLES = [
  'roll_days',
  'roll_slots',
  'roll_links',
  'roll_values',
  'roll_urls',
  'roll_people',
  'roll_mixed',
] as const
/** The sums of months. Their `day` is the first day of the month. */
export const MONTH_SUM_TABLES = [
  'roll_month_links',
  'roll_month_values',
  'roll_month_urls',
  'roll_month_people',
] as const
export const SUM_TABLES = [...DAY_SUM_TABLES, ...MONTH_SUM_TABLES] as const
/** The tables that say which sums count. */
export const MARK_TABLES = ['roll_marks', 'roll_month_marks'] as const
const TRACE_TABLES = ['roll_touches', 'roll_intents', 'roll_loaders', 'roll_steps'] as const
export const BOOKKEEPING_TABLES = [...MARK_TABLES, ...TRACE_TABLES] as const
type SumTable = (typeof SUM_TABLES)[number]

// Clicks and visitors have the types that `count()` and `uniqExact() - max()` have: a union of sums and hits needs one type.
const CLICKS = 'UInt64 CODEC(T64, ZSTD)'
const VISITORS = 'Int64 CODEC(T64, ZSTD)'
const COUNTS = `clicks ${CLICKS}, visitors ${VISITORS}`
const PEOPLE = PEOPLE_COLUMNS.map((column) => `${column} LowCardinality(String) CODEC(ZSTD)`).join(', ')
const LINKS = { columns: `value Int64 CODEC(ZSTD), ${COUNTS}`, order: 'workspace_id, day, value' }
const VALUES = {
  columns: `name UInt8, value String CODEC(ZSTD), ${COUNTS}`,
  order: 'workspace_id, name, day, value',
}
const PERSONS = { columns: `${PEOPLE}, ${COUNTS}`, order: 'workspace_id, day' }

const SUMS: Record<SumTable, { columns: string; order: string }> = {
  roll_days: {
    columns: `${COUNTS}, landings ${CLICKS}, landing_visitors ${VISITORS}, imports ${CLICKS}, import_visitors ${VISITORS}`,
    order: 'workspace_id, day',
  },
  roll_slots: {
    columns: `slot UInt8, clicks ${CLICKS}, firsts ${VISITORS}, lasts ${VISITORS}`,
    order: 'workspace_id, day, slot',
  },
  roll_links: LINKS,
  roll_values: VALUES,
  roll_urls: VALUES,
  roll_people: PERSONS,
  roll_mixed: { columns: 'name UInt8', order: 'workspace_id, name, day' },
  roll_month_links: LINKS,
  roll_month_values: VALUES,
  roll_month_urls: VALUES,
  roll_month_people: PERSONS,
}

/** Before all days of hits. */
export const NO_DAY = -(2 ** 31)

/** The first rows of tables that need more than a roll-up without a number. No node is called ''. */
const FIRST_ROWS: Record<string, string> = {
  hit_marks: "(node, batch) SELECT '', 0",
  roll_loaders: "(node, batch) SELECT '', 0",
  roll_intents: `(day) SELECT ${NO_DAY}`,
  roll_touches: '(touch) SELECT 0',
}

/**
 * A first row for a table that nobody has written to, by its columns: it changes nothing.
 * @returns undefined for a table of which every row counts
 */
export const toFirstRow = (table: string): string | undefined =>
  FIRST_ROWS[table] ?? (table.startsWith('roll_') ? '(roll) SELECT 0' : undefined)

/** A mark must survive a power cut, with everything that it relies on. */
const SYNCED = 'SETTINGS fsync_after_insert = 1, fsync_part_directory = 1'
const MONTH = `toYYYYMM(fromUnixTimestamp64Milli(toInt64(day) * ${DAY_MS}, 'UTC'))`

/** @param engine the name of a table engine of a kind, such as `MergeTree` */
export function listRollUpTables(engine: (kind: string) => string): string[] {
  const toTable = (name: string, columns: string, order: string, partition = '') =>
    `CREATE TABLE IF NOT EXISTS ${name} (${columns}) ENGINE = ${engine('MergeTree')} ${partition} ORDER BY (${order}) ${SYNCED}`
  return [
    ...SUM_TABLES.map((name) => {
      const { columns, order } = SUMS[name]
      const all = `workspace_id Int64 CODEC(ZSTD), day Int32, ${columns}, roll Int64 CODEC(ZSTD)`
      return toTable(name, all, order, `PARTITION BY ${MONTH}`)
    }),
    // A roll-up of a day counts while its day has exactly the changes that the mark names.
    toTable(
      'roll_marks',
      'day Int32, roll Int64, touches Int64, silent Int64, rules String, rows Int64, made_at DateTime64(3)',
      'day, roll',
    ),
    // A roll-up of a month counts while exactly these roll-ups of its days do.
    toTable(
      'roll_month_marks',
      'day Int32, roll Int64, day_rolls Array(Int64), rules String, rows Int64, made_at DateTime64(3)',
      'day, roll',
    ),
    // Every change of the hits of a day that may be rolled up. The source is a node and the number one of its batches, or a
    // deletion.
    toTable(
      'roll_touches',
      'day Int32, source String, number Int64, touch Int64, touched_at DateTime64(3)',
      'day, source, number',
    ),
    // Days up to the largest one may be rolled up.
    toTable('roll_intents', 'day Int32, made_at DateTime64(3)', 'day'),
    // The batch from which on a node records changes. Nodes of the release before know nothing of roll-ups.
    toTable('roll_loaders', 'node String, batch Int64', 'node'),
    // The steps of a roll-up: begun, ended, erased (rows of a workspace), dropped. `audited` is of all, and
    // `unreadable` of a damaged part of a table.
    toTable(
      'roll_steps',
      'roll Int64, day Int32, step LowCardinality(String), workspace_id Int64, rows Int64, made_at DateTime64(3)',
      'roll, step',
    ),
  ]
}
