// Links: trash, suspensions, social cards, a table of counters, domains of workspaces, and counts of unknown slugs.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, type ColumnTypes, fromZero, getColumnTypes, ofWorkspace } from './columns.ts'

export const domainsAndTrash = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const types = getColumnTypes(engine)
    await extendLinks(db, types)
    await createLinkCounters(db, types)
    await createDomains(db, types)
    await createMisses(db, types)
  },
})

async function extendLinks(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await addColumns(db, 'links', ['suspended_at'], bigint)
  await addColumns(db, 'links', ['suspended_reason'], text)
  // The time of the permanent deletion. A link in the trash keeps its slug.
  await addColumns(db, 'links', ['purged_at'], bigint)
  await addColumns(db, 'links', ['preview_title', 'preview_description', 'preview_image'], text)
  await addColumns(db, 'links', ['clicks_before'], bigint, fromZero)
  // 0.1.0 has no trash: another link can have the slug of a deleted one.
  await sql`update links set purged_at = deleted_at where deleted_at is not null`.execute(db)
  await sql`create index links_in_trash on links (workspace_id, deleted_at, id)
    where deleted_at is not null and purged_at is null`.execute(db)
  await sql`drop index links_domain_slug`.execute(db)
  // Two workspaces may claim one domain, so slugs on it are unique for each workspace.
  await sql`create unique index links_domain_slug on links
    (domain, slug_key, (case when domain = '' then 0 else workspace_id end))
    where purged_at is null`.execute(db)
}

/** A narrow table, because `links` has seven indexes, and each update of its counters writes to most of them. */
async function createLinkCounters(db: Kysely<unknown>, { bigint, postgres }: ColumnTypes) {
  await db.schema
    .createTable('link_counters')
    .addColumn('link_id', bigint, (c) => c.primaryKey().references('links.id').onDelete('cascade'))
    .addColumn('workspace_id', bigint, (c) => c.notNull())
    .addColumn('clicks', bigint, (c) => c.notNull())
    .addColumn('last_clicked_at', bigint, (c) => c.notNull())
    .execute()
  // Half of each page takes the next versions of its rows, so that an update touches no index.
  if (postgres) await sql`alter table link_counters set (fillfactor = 50)`.execute(db)
}

async function createDomains(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'domains')
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('domain', text, (c) => c.notNull())
    .addColumn('token', text, (c) => c.notNull())
    .addColumn('verified_at', bigint)
    .addColumn('checked_at', bigint)
    .addColumn('failing_since', bigint)
    .addColumn('problem', text)
    .addColumn('proof_ok', bigint)
    .addColumn('route_ok', bigint)
    .addColumn('is_primary', bigint, (c) => c.notNull())
    .addColumn('case_sensitive', bigint, (c) => c.notNull())
    .addColumn('root_url', text)
    .addColumn('not_found_url', text)
    .addColumn('expired_url', text)
    .addColumn('asset_links', text)
    .addColumn('apple_app_site_association', text)
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('updated_at', bigint, (c) => c.notNull())
    .execute()
  await sql`create unique index domains_of_workspace on domains (workspace_id, domain)`.execute(db)
  await sql`create unique index domains_primary on domains (workspace_id) where is_primary = 1`.execute(db)
  await sql`create unique index domains_verified on domains (domain) where verified_at is not null`.execute(
    db,
  )
}

async function createMisses(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await db.schema
    .createTable('misses')
    .addColumn('domain', text, (c) => c.notNull())
    .addColumn('hour', bigint, (c) => c.notNull())
    .addColumn('slug', text, (c) => c.notNull())
    .addColumn('hits', bigint, (c) => c.notNull())
    .addColumn('visitors', bigint, (c) => c.notNull())
    .addColumn('bots', bigint, (c) => c.notNull())
    .addColumn('last_at', bigint, (c) => c.notNull())
    // The owner of the domain; 0 on the default domain.
    .addColumn('workspace_id', bigint, fromZero)
    .addPrimaryKeyConstraint('misses_key', ['domain', 'hour', 'slug'])
    .execute()
  await sql`create index misses_by_hour on misses (hour)`.execute(db)
  await db.schema
    .createTable('missing_reports')
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('domain', text, (c) => c.notNull())
    .addColumn('slug', text, (c) => c.notNull())
    .addColumn('reported_at', bigint, (c) => c.notNull())
    .addPrimaryKeyConstraint('missing_reports_key', ['workspace_id', 'domain', 'slug'])
    .execute()
}
