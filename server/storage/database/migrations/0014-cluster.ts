// Several processes on one database: the installation, nodes, leases, changes, shared limits, built files and moves.

import { type Kysely, sql } from 'kysely'
import { randomToken } from '../../../lib/crypto/random.ts'
import type { DatabaseEngine } from '../database.ts'
import { type ColumnTypes, getColumnTypes } from './columns.ts'

export const cluster = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const types = getColumnTypes(engine)
    await createInstance(db, types)
    await createNodes(db, types)
    await createChanges(db, types)
    if (types.postgres) await createRateLimits(db)
    await createBuiltFiles(db, types)
    // The progress of `towpath move`, which the target database stores.
    await db.schema
      .createTable('move_steps')
      .addColumn('step', types.text, (c) => c.primaryKey())
      .addColumn('detail', types.text, (c) => c.notNull())
      .addColumn('at', types.bigint, (c) => c.notNull())
      .execute()
  },
})

async function createInstance(db: Kysely<unknown>, { text }: ColumnTypes) {
  await db.schema
    .createTable('instance')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('secret_fingerprint', text)
    .addColumn('floor', text, (c) => c.notNull())
    .execute()
  // 0.1.0 does not know other servers, so it must not use the database any more.
  await sql`insert into instance (id, name, floor) values (1, ${randomToken(16)}, '0014-cluster')`.execute(db)
}

async function createNodes(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await db.schema
    .createTable('nodes')
    .addColumn('node', text, (c) => c.primaryKey())
    .addColumn('process', text, (c) => c.notNull())
    .addColumn('place', text)
    .addColumn('version', text, (c) => c.notNull())
    .addColumn('hit_store', text, (c) => c.notNull())
    .addColumn('settings', text, (c) => c.notNull())
    .addColumn('started_at', bigint, (c) => c.notNull())
    .addColumn('seen_at', bigint, (c) => c.notNull())
    .addColumn('shipped_until', bigint, (c) => c.notNull())
    .addColumn('left_at', bigint)
    .execute()
  await db.schema
    .createTable('leases')
    .addColumn('name', text, (c) => c.primaryKey())
    .addColumn('node', text, (c) => c.notNull())
    .addColumn('until', bigint, (c) => c.notNull())
    .execute()
}

async function createChanges(db: Kysely<unknown>, { bigint, text, postgres }: ColumnTypes) {
  const table = db.schema.createTable('changes')
  // No AUTOINCREMENT on SQLite: the newest row is never deleted, so numbers are not used twice.
  const numbered = postgres
    ? table.addColumn('seq', 'bigint', (c) => c.primaryKey().generatedAlwaysAsIdentity())
    : table.addColumn('seq', 'integer', (c) => c.primaryKey())
  // The database's clock, because clocks of nodes differ and rows are pruned by this time.
  const now = postgres
    ? sql`(date_part('epoch', clock_timestamp()) * 1000)::bigint`
    : sql`(cast(unixepoch('subsec') * 1000 as integer))`
  await numbered
    .addColumn('domain', text)
    .addColumn('slug_key', text)
    .addColumn('workspace_id', bigint)
    .addColumn('at', bigint, (c) => c.notNull().defaultTo(now))
    .execute()
  // The first row invalidates nothing. It has no workspace, which means that servers of 0.1.0, which write no rows, may still run
  // (server/features/cluster/change-feed.ts).
  await sql`insert into changes (workspace_id)
    select case when exists (select 1 from workspaces) then null else 0 end`.execute(db)
}

/** SQLite has one process, which counts in memory. */
async function createRateLimits(db: Kysely<unknown>) {
  // `rate_windows` stays for the limits of bytes. The free half of each page is for the next versions of its rows, so that an
  // update touches no index.
  await sql`create unlogged table rate_limits (
    key text collate "C" primary key, since bigint not null, hits integer[] not null, allowed integer not null,
    expires_at bigint not null
  ) with (fillfactor = 50)`.execute(db)
}

/** During an upgrade, a page of one release can request its browser files from a server of the other release. */
async function createBuiltFiles(db: Kysely<unknown>, { bigint, text, postgres }: ColumnTypes) {
  await db.schema
    .createTable('built_files')
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('gzip', postgres ? 'bytea' : sql`blob`, (c) => c.notNull())
    .addColumn('seen_at', bigint, (c) => c.notNull())
    .addPrimaryKeyConstraint('built_files_pk', ['kind', 'name'])
    .execute()
}
