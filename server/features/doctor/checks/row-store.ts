// Checks of the row store: it opens, its pages are whole, its settings keep what was committed, and its data model is of
// this release.

import { sql } from 'kysely'
import { checkSqlite } from '../../../storage/database/check-sqlite.ts'
import { listMigrations, readMigrationState } from '../../../storage/database/migrate.ts'
import { toSqlitePath } from '../../../storage/database/open-reader.ts'
import { type PostgresSettings, readPostgresSettings } from '../../../storage/database/postgres-problem.ts'
import { DATABASE_CLOCK } from '../../cluster/database-clock.ts'
import { type CheckResult, complaintsOr, ok, problem, warning } from '../finding.ts'
import { type DoctorNeeds, type RowReader, withRows } from '../needs.ts'

/** SQLite reads about 500 MB in this time. */
const CHECK_MS = 3_000
/** A node that lives writes its heartbeat every few seconds. */
const ALIVE_MS = 60_000

/** A damaged file cannot be opened, so SQLite's is not opened here. */
export const checkRowStore = (needs: DoctorNeeds): Promise<CheckResult[]> =>
  needs.settings.databaseUrl === undefined
    ? checkSqliteFile(needs)
    : withRows(needs, (rows) => checkPostgres(rows, needs))

async function checkSqliteFile({ settings }: DoctorNeeds): Promise<CheckResult[]> {
  const path = toSqlitePath(settings.dataDir)
  const { problems, tables, checked } = await checkSqlite(path, CHECK_MS)
  if (problems.length > 0)
    return problems.map((text) =>
      problem(
        `The row store is damaged: ${text}`,
        'Stop the server, keep a copy of DATA_DIR, and restore the last backup (docs/hosting.md).',
      ),
    )
  if (checked < tables)
    return [
      ok(
        `${checked} of ${tables} tables of SQLite are intact; the check was stopped after ${CHECK_MS / 1000} s.`,
      ),
    ]
  return [ok(`SQLite's file is intact: ${tables} tables.`)]
}

async function checkPostgres({ read }: RowReader, needs: DoctorNeeds): Promise<CheckResult[]> {
  const settings = await readPostgresSettings(read)
  const { rows } = await sql<{ nodes: number }>`
    select count(*)::int as nodes from nodes where seen_at > ${DATABASE_CLOCK} - ${ALIVE_MS}`.execute(read)
  const nodes = Math.max(rows[0]?.nodes ?? 0, needs.settings.workers)
  return complaintsOr(
    judgePostgres(settings, nodes * needs.settings.databasePool),
    `PostgreSQL answers and syncs its commits; ${nodes} × ${needs.settings.databasePool} of its ${settings.connections} connections are for Towpath.`,
  )
}

/** @param wanted how many connections all processes may open */
export function judgePostgres(settings: PostgresSettings, wanted: number): CheckResult[] {
  const found: CheckResult[] = []
  const inFile = 'in postgresql.conf, and restart PostgreSQL.'
  if (!settings.fsync)
    found.push(
      problem(
        'PostgreSQL has fsync = off: a power cut can destroy the database.',
        `Set fsync = on ${inFile}`,
      ),
    )
  if (!settings.fullPageWrites)
    found.push(
      problem(
        'PostgreSQL has full_page_writes = off: a power cut can corrupt its pages.',
        `Set full_page_writes = on ${inFile}`,
      ),
    )
  if (wanted > settings.connections)
    found.push(
      warning(
        `Towpath may open ${wanted} connections, and PostgreSQL has ${settings.connections}.`,
        'Raise max_connections of PostgreSQL, lower DATABASE_POOL, or use a pooler.',
      ),
    )
  return found
}

export const checkMigrations = (needs: DoctorNeeds): Promise<CheckResult[]> =>
  withRows(needs, async ({ engine, read }) => {
    const { missing, unknown, applied, isUsable } = await readMigrationState(read, listMigrations(engine))
    if (!isUsable)
      return [
        problem(
          `The database belongs to a newer version of Towpath (it has ${unknown.join(', ')}), and this version cannot use it.`,
          'Start the newer version, or restore a backup of this version.',
        ),
      ]
    if (unknown.length > 0)
      return [
        warning(
          `A newer version of Towpath has migrated the database (${unknown.join(', ')}); this version can still use it.`,
          'Update this server soon.',
        ),
      ]
    if (missing.length > 0)
      return [
        warning(
          `The data model lacks ${missing.length} steps of this version (from ${missing[0]} on).`,
          'Start the server: it migrates the database before it answers.',
        ),
      ]
    return [ok(`The data model matches this version (${applied} steps).`)]
  })
