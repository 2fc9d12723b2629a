// Domains of workspaces. Two workspaces may claim one name, so slugs on it are unique for each workspace.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function domains(engine: DatabaseEngine) {
  const { bigint, text, table } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await table(db, 'domains')
        .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
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
      await sql`create unique index domains_primary on domains (workspace_id) where is_primary = 1`.execute(
        db,
      )
      await sql`create unique index domains_verified on domains (domain) where verified_at is not null`.execute(
        db,
      )
      await db.schema.dropIndex('links_domain_slug').execute()
      await sql`create unique index links_domain_slug on links
        (domain, slug_key, (case when domain = '' then 0 else workspace_id end))
        where purged_at is null`.execute(db)
    },
  }
}
