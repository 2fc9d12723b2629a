// The tables of roll-ups in the DuckDB file. All their data can be computed from hits, so they can be dropped and built again at
// any time.

import { createHash } from 'node:crypto'
import type { DuckDBConnection } from '@duckdb/node-api'
import { KNOWN_SOURCES } from '../../../sources/known-sources.ts'
import {
  CHANNEL_BY_KIND,
  CHANNEL_BY_MEDIUM,
  PAID_PREFIX,
  SOURCE_WORDS,
} from '../../../sources/traffic-channel.ts'
import type { ReadWriteLock } from '../read-write-lock.ts'
import { runTransaction } from '../transaction.ts'
import { quoteIdentifier } from '../values.ts'

const SUMS = 'clicks UINTEGER NOT NULL, visitors UINTEGER NOT NULL'
const PLACE = 'workspace_id BIGINT NOT NULL, day INTEGER NOT NULL'
const PEOPLE =
  'country VARCHAR, region VARCHAR, city VARCHAR, continent VARCHAR, device VARCHAR, browser VARCHAR, os VARCHAR'

/** The tables of a day's sums. */
export const DAY_TABLES = {
  roll_days: `${PLACE}, ${SUMS}, landings UINTEGER NOT NULL, landing_visitors UINTEGER NOT NULL, imports UINTEGER NOT NULL, import_visitors UINTEGER NOT NULL`,
  roll_slots: `${PLACE}, slot UTINYINT NOT NULL, clicks UINTEGER NOT NULL, firsts UINTEGER NOT NULL, lasts UINTEGER NOT NULL`,
  roll_links: `${PLACE}, value BIGINT NOT NULL, ${SUMS}`,
  roll_values: `${PLACE}, name UTINYINT NOT NULL, value VARCHAR NOT NULL, ${SUMS}`,
  roll_urls: `${PLACE}, name UTINYINT NOT NULL, value VARCHAR NOT NULL, ${SUMS}`,
  roll_people: `${PLACE}, ${PEOPLE}, ${SUMS}`,
  roll_mixed: `${PLACE}, name UTINYINT NOT NULL`,
}

/** The tables of a month's sums. Their `day` is the first of the month. */
export const MONTH_TABLES = {
  roll_month_links: DAY_TABLES.roll_links,
  roll_month_values: DAY_TABLES.roll_values,
  roll_month_urls: DAY_TABLES.roll_urls,
  roll_month_people: DAY_TABLES.roll_people,
  roll_heads: `${PLACE}, name UTINYINT NOT NULL, value VARCHAR NOT NULL, clicks UINTEGER NOT NULL, bound UINTEGER NOT NULL`,
}

/** The marks of valid days and months. `total` is the number of their rows in the other tables. */
const MARK_TABLES = {
  roll_marks: 'day INTEGER NOT NULL, total BIGINT NOT NULL',
  roll_month_marks: 'day INTEGER NOT NULL, total BIGINT NOT NULL',
  roll_rules: 'rules VARCHAR NOT NULL',
}

export const ROLL_UP_TABLES = { ...DAY_TABLES, ...MONTH_TABLES, ...MARK_TABLES }

/** Raise it when a release computes other sums from the same hits. */
const VERSION = 2

/** Inputs of the sums besides the hits: the lists of sources and channels, which a release can change. */
const RULES = createHash('sha256')
  .update(
    JSON.stringify([
      VERSION,
      KNOWN_SOURCES,
      CHANNEL_BY_KIND,
      [...CHANNEL_BY_MEDIUM],
      [...SOURCE_WORDS],
      PAID_PREFIX,
    ]),
  )
  .digest('hex')

const CREATE = Object.entries(ROLL_UP_TABLES).map(
  ([name, columns]) => `CREATE TABLE IF NOT EXISTS ${name} (${columns})`,
)

/** Creates missing tables. Drops roll-ups that were computed with other rules. */
export async function prepareRollUps(connection: DuckDBConnection): Promise<void> {
  if ((await listTables(connection)).length === CREATE.length) {
    const rules = await connection.runAndReadAll('SELECT rules FROM roll_rules')
    if (rules.getRows()[0]?.[0] === RULES) return
  }
  await recreateRollUps(connection)
}

/**
 * Drops the tables of roll-ups in the current database, also those of a later release. It reads none of them, so it also works
 * if they are damaged.
 */
export async function dropRollUps(connection: DuckDBConnection): Promise<void> {
  for (const name of await listTables(connection)) await connection.run(`DROP TABLE ${quoteIdentifier(name)}`)
}

/** Drops all roll-ups, and creates empty tables. */
export async function recreateRollUps(
  connection: DuckDBConnection,
  aroundCommit?: ReadWriteLock['exclusive'],
): Promise<void> {
  // Replaying a logged CREATE together with other statements can fail: see migrateLayout.
  await connection.run('CHECKPOINT')
  const recreate = async () => {
    await dropRollUps(connection)
    for (const statement of CREATE) await connection.run(statement)
    await connection.run('INSERT INTO roll_rules VALUES ($1)', [RULES])
  }
  await runTransaction(connection, recreate, aroundCommit)
  await connection.run('CHECKPOINT')
}

async function listTables(connection: DuckDBConnection): Promise<string[]> {
  const result = await connection.runAndReadAll(
    "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT temporary AND table_name LIKE 'roll\\_%' ESCAPE '\\'",
  )
  return result.getRows().map(([name]) => String(name))
}

/**
 * Lowers the totals of a copy's marks by the rows that were left out of it. A day whose rows did not match its mark before
 * still does not match.
 * @param condition selects the rows of the attached database `kept` that were left out of `fresh`
 */
export async function lowerTotals(connection: DuckDBConnection, condition: string): Promise<void> {
  const lower = async (marks: string, tables: Record<string, string>) => {
    const rows = Object.keys(tables).map((table) => `SELECT day FROM kept.main.${table} WHERE ${condition}`)
    await connection.run(
      `UPDATE fresh.main.${marks} SET total = total - n
       FROM (SELECT day, count(*) AS n FROM (${rows.join(' UNION ALL ')}) GROUP BY day) AS lacking
       WHERE ${marks}.day = lacking.day`,
    )
  }
  await lower('roll_marks', DAY_TABLES)
  await lower('roll_month_marks', MONTH_TABLES)
}
