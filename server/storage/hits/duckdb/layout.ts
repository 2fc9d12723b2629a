// The tables of the DuckDB file, and their migration from earlier layouts. Hits are in two tables: in the order of their
// arrival, and sorted (sorter.ts). Questions read the view `hits` of both.

import type { DuckDBConnection } from '@duckdb/node-api'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { toDuckDbVisitor } from '../day-visitor.ts'
import type { Hit } from '../hit.ts'
import { HIT_COLUMNS } from '../hit-columns.ts'

/**
 * The type of each column. Texts are no ENUMs: dictionary compression makes both equally small, and texts need no
 * migrations.
 */
export const HIT_TYPES: Record<keyof Hit, string> = {
  id: 'BIGINT NOT NULL',
  // Milliseconds as they come: buckets are arithmetic (filter-sql.ts), and integers compress best.
  at: 'BIGINT NOT NULL',
  workspaceId: 'BIGINT NOT NULL',
  linkId: 'BIGINT NOT NULL',
  outcome: 'VARCHAR NOT NULL',
  class: 'VARCHAR NOT NULL',
  trigger: 'VARCHAR NOT NULL',
  visitor: 'UBIGINT NOT NULL',
  country: 'VARCHAR',
  region: 'VARCHAR',
  city: 'VARCHAR',
  continent: 'VARCHAR',
  device: 'VARCHAR',
  browser: 'VARCHAR',
  os: 'VARCHAR',
  referrer: 'VARCHAR',
  referrerUrl: 'VARCHAR',
  utmSource: 'VARCHAR',
  utmMedium: 'VARCHAR',
  utmCampaign: 'VARCHAR',
  utmTerm: 'VARCHAR',
  utmContent: 'VARCHAR',
  unknownSlug: 'VARCHAR',
  importId: 'BIGINT',
  variant: 'VARCHAR',
  params: 'VARCHAR',
}

const fields = Object.keys(HIT_TYPES) as (keyof Hit)[]
const names = ['node', ...fields.map((field) => HIT_COLUMNS[field])]
export const HIT_COLUMN_LIST = names.join(', ')
// The columns of layout 7, of layouts 4 to 6, and of layouts 1 to 3. A released layout never changes.
const names7 = names.filter((name) => name !== HIT_COLUMNS.params)
const names4 = names7.filter((name) => name !== HIT_COLUMNS.variant)
const fields3 = fields.filter((field) => field !== 'importId' && field !== 'variant' && field !== 'params')
const names3 = ['node', ...fields3.map((field) => HIT_COLUMNS[field])]
// No primary key: its index would need memory for each hit, and marks already prevent that batches count twice.
const columns = fields3.map((field) => `${HIT_COLUMNS[field]} ${HIT_TYPES[field]}`)
const HITS_TABLE = `(node VARCHAR NOT NULL, ${columns.join(', ')})`

// No text of a hit contains a NUL (lib/clean-text.ts), so NUL can represent null.
const NULL_MARKER = 'chr(0)'
// Nearly every browser sends only the origin, which `referrer` already has. Leaving it out saves 2.2 bytes a click.
const ORIGIN_URL = "'https://' || referrer || '/'"
const shortUrl = `CASE WHEN referrer_url = ${ORIGIN_URL} THEN NULL
  WHEN referrer_url IS NULL AND referrer IS NOT NULL THEN ${NULL_MARKER} ELSE referrer_url END`
/** The columns that are often null, and differ from click to click. */
const NULL_FREE_COLUMNS = ['referrer', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content']

const toSelectList = (expressions: Record<string, string>, columns = names) =>
  columns.map((name) => (expressions[name] ? `${expressions[name]} AS ${name}` : name)).join(', ')
const mapColumns = (columns: string[], expression: (name: string) => string) =>
  Object.fromEntries(columns.map((name) => [name, expression(name)]))
const unmarkNull = (column: string) => `nullif(${column}, ${NULL_MARKER})`

/**
 * The select list that turns a hit into a row of `hits_sorted`. DuckDB reads a column without nulls a vector of
 * dictionary entries at a time: counting by referrers or campaigns takes half the time, and a click takes 1.8 bytes
 * less.
 */
export const SORTED_COLUMN_LIST = toSelectList({
  ...mapColumns(NULL_FREE_COLUMNS, (name) => `coalesce(${name}, ${NULL_MARKER})`),
  referrer_url: shortUrl,
})
const restoreUrl = (url: string, referrer: string) =>
  `nullif(coalesce(${url}, 'https://' || ${referrer} || '/'), ${NULL_MARKER})`

/**
 * The stored columns to group by (`kept_`, where they differ from the column), and the expression of the column's
 * value.
 */
export function toStoredExpression(column: string): { columns: string[]; value: string } {
  if (column === 'referrer_url')
    return {
      columns: ['kept_referrer_url', 'kept_referrer'],
      value: restoreUrl('kept_referrer_url', unmarkNull('kept_referrer')),
    }
  return NULL_FREE_COLUMNS.includes(column)
    ? { columns: [`kept_${column}`], value: unmarkNull(`kept_${column}`) }
    : { columns: [column], value: column }
}

// The views of each layout. Layout 2 stored nulls as nulls.
const VIEW_2 = toSelectList({ referrer_url: restoreUrl('referrer_url', 'referrer') }, names3)
const restoredColumns = {
  ...mapColumns(NULL_FREE_COLUMNS, unmarkNull),
  referrer_url: restoreUrl('referrer_url', unmarkNull('referrer')),
}
const keptColumns = NULL_FREE_COLUMNS.map((name) => `${name} AS kept_${name}`).join(', ')

const toView = (columns: string[]) => `CREATE OR REPLACE VIEW hits AS
    SELECT ${columns.join(', ')}, ${keptColumns}, ${shortUrl} AS kept_referrer_url FROM hits_arrived
  UNION ALL
    SELECT ${toSelectList(restoredColumns, columns)}, ${keptColumns}, referrer_url AS kept_referrer_url FROM hits_sorted`

/**
 * The statements that each layout adds to the previous one. A released layout never changes. A new file goes through all
 * layouts, so that there is only one path. A change that is impossible in place can delete hits and marks; the batches are
 * then loaded again.
 */
const LAYOUTS = [
  [`CREATE TABLE hits ${HITS_TABLE}`, 'CREATE TABLE marks (node VARCHAR NOT NULL, batch BIGINT NOT NULL)'],
  [
    'ALTER TABLE hits RENAME TO hits_arrived',
    `CREATE TABLE hits_sorted ${HITS_TABLE}`,
    `CREATE VIEW hits AS SELECT ${names3.join(', ')} FROM hits_arrived UNION ALL SELECT ${VIEW_2} FROM hits_sorted`,
    'CREATE TABLE layout (version BIGINT NOT NULL)',
  ],
  [toView(names3)],
  [
    // In place: a column that is null everywhere takes a few bytes for each row group.
    ...['hits_arrived', 'hits_sorted'].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS import_id BIGINT`,
    ),
    toView(names4),
  ],
  // An earlier release would not delete the marks of roll-ups when late hits come, so it must refuse the file. Visitors of
  // the last days can come again, or wait in batches: their stored hits get the new form too. A clock that was ahead, or an
  // import, may have left hits of the future.
  ['hits_arrived', 'hits_sorted'].map(
    (table) =>
      `UPDATE ${table} SET visitor = ${toDuckDbVisitor('visitor', 'recorded_at')}
       WHERE recorded_at >= (SELECT (least(coalesce(max(recorded_at), 0), epoch_ms(now())) // ${DAY_MS} - 2) * ${DAY_MS} FROM hits)`,
  ),
  // The file can have names of browsers that are texts of visitors, and batches of the previous release can still be loaded.
  [
    'CREATE TABLE IF NOT EXISTS open_names (before BIGINT NOT NULL)',
    `INSERT INTO open_names SELECT epoch_ms(now()) + 3600000 FROM hits HAVING count(*) > 0`,
  ],
  [
    ...['hits_arrived', 'hits_sorted'].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS variant VARCHAR`,
    ),
    toView(names7),
  ],
  [
    ...['hits_arrived', 'hits_sorted'].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS params VARCHAR`,
    ),
    toView(names),
  ],
]

/** The number of the newest layout. */
export const HIT_LAYOUT = LAYOUTS.length

/** Brings a file to the newest layout. @throws for a layout of a newer release; the file stays as it is */
export async function migrateLayout(connection: DuckDBConnection): Promise<void> {
  const version = await readLayoutVersion(connection)
  if (version === HIT_LAYOUT) return
  if (version > HIT_LAYOUT)
    throw new Error(
      `The hit file has layout ${version} of a newer version of Towpath; this one knows ${HIT_LAYOUT}`,
    )
  // The transaction that creates the table of layouts must write its first row.
  await applyLayouts(connection, version, Math.max(version, FIRST_VERSION))
  // DuckDB cannot add a column to a table that the same transaction has updated.
  for (let next = Math.max(version, FIRST_VERSION); next < HIT_LAYOUT; next++)
    await applyLayouts(connection, next, next + 1)
}

/** The first layout with the table `layout`. */
const FIRST_VERSION = 2

async function applyLayouts(connection: DuckDBConnection, from: number, until: number): Promise<void> {
  if (from === until) return
  // Replaying a logged CREATE can fail (https://github.com/duckdb/duckdb/issues/19712 and 22044). So the log has no
  // other statements, and the checkpoint at the end empties the log.
  await connection.run('CHECKPOINT')
  await connection.run('BEGIN TRANSACTION')
  for (const statement of LAYOUTS.slice(from, until).flat()) await connection.run(statement)
  await connection.run('DELETE FROM layout')
  await connection.run('INSERT INTO layout VALUES ($1)', [BigInt(until)])
  await connection.run('COMMIT')
  await connection.run('CHECKPOINT')
}

/** @returns true if the file has the layout of this release */
export const isNewestLayout = async (connection: DuckDBConnection): Promise<boolean> =>
  (await readLayoutVersion(connection)) === HIT_LAYOUT

/** 0 for a new file. Layout 1 had no table `layout`. */
async function readLayoutVersion(connection: DuckDBConnection): Promise<number> {
  const result = await connection.runAndReadAll(
    'SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT temporary',
  )
  const tables = result.getRows().map(([name]) => String(name))
  if (!tables.includes('layout')) return tables.includes('hits') ? 1 : 0
  const version = await connection.runAndReadAll('SELECT version FROM layout')
  return Number(version.getRows()[0]?.[0])
}
