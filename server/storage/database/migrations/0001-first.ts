// The first tables: workspaces, API keys, links, tags, idempotency keys, click counters, visitor salts, rate limits.

import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { type ColumnTypes, createIndex, getColumnTypes } from './columns.ts'

export function first(engine: DatabaseEngine) {
  const types = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await createWorkspaces(db, types)
      await createLinks(db, types)
      await createLinkIndexes(db)
      await createTags(db, types)
      await createIdempotencyKeys(db, types)
      await createCounters(db, types)
    },
  }
}

async function createWorkspaces(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'workspaces')
    .addColumn('public_id', text, (c) => c.notNull().unique())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('plan', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('updated_at', bigint, (c) => c.notNull())
    .execute()

  await table(db, 'api_keys')
    .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('hash', text, (c) => c.notNull().unique())
    .addColumn('last_four', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('last_used_at', bigint)
    .addColumn('revoked_at', bigint)
    .execute()
}

async function createLinks(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'links')
    .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
    .addColumn('domain', text, (c) => c.notNull())
    .addColumn('slug', text, (c) => c.notNull())
    .addColumn('slug_key', text, (c) => c.notNull())
    .addColumn('destination_url', text, (c) => c.notNull())
    .addColumn('title', text)
    .addColumn('comments', text)
    .addColumn('external_id', text)
    .addColumn('archived', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('starts_at', bigint)
    .addColumn('expires_at', bigint)
    .addColumn('expired_url', text)
    .addColumn('click_limit', bigint)
    .addColumn('clicks_used', bigint, (c) => c.notNull().defaultTo(0))
    .addColumn('lead_limit', bigint)
    .addColumn('password_hash', text)
    .addColumn('forward_query', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('track_conversions', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('geo_targeting', text, (c) => c.notNull().defaultTo('{}'))
    .addColumn('device_targeting', text, (c) => c.notNull().defaultTo('{}'))
    .addColumn('redirect_status', 'integer', (c) => c.notNull().defaultTo(302))
    .addColumn('clicks', bigint, (c) => c.notNull().defaultTo(0))
    .addColumn('leads', bigint, (c) => c.notNull().defaultTo(0))
    .addColumn('last_clicked_at', bigint)
    .addColumn('search_text', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('updated_at', bigint, (c) => c.notNull())
    .addColumn('deleted_at', bigint)
    .execute()
}

async function createLinkIndexes(db: Kysely<unknown>) {
  // Unique among links that are not deleted: a deletion frees the slug and the external id.
  await db.schema
    .createIndex('links_domain_slug')
    .unique()
    .on('links')
    .columns(['domain', 'slug_key'])
    .where(sql.ref('deleted_at'), 'is', null)
    .execute()
  await db.schema
    .createIndex('links_external_id')
    .unique()
    .on('links')
    .columns(['workspace_id', 'external_id'])
    .where(sql.ref('deleted_at'), 'is', null)
    .execute()
  // One index for each sort order of the list. Counts and filters use the index on `created_at`.
  for (const column of ['created_at', 'clicks', 'last_clicked_at', 'slug_key']) {
    await db.schema
      .createIndex(`links_by_${column}`)
      .on('links')
      .columns(['workspace_id', column, 'id'])
      .where(sql.ref('deleted_at'), 'is', null)
      .execute()
  }
}

async function createTags(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'tags')
    .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('name_key', text, (c) => c.notNull())
    .addColumn('color', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addUniqueConstraint('tags_workspace_name', ['workspace_id', 'name_key'])
    .execute()

  await db.schema
    .createTable('link_tags')
    .addColumn('link_id', bigint, (c) => c.notNull().references('links.id').onDelete('cascade'))
    .addColumn('tag_id', bigint, (c) => c.notNull().references('tags.id').onDelete('cascade'))
    .addColumn('workspace_id', bigint, (c) => c.notNull())
    .addPrimaryKeyConstraint('link_tags_key', ['link_id', 'tag_id'])
    .execute()
  await createIndex(db, 'link_tags', 'link_tags_by_tag', ['tag_id', 'link_id'])
}

async function createIdempotencyKeys(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('path', text, (c) => c.notNull())
    .addColumn('body_hash', text, (c) => c.notNull())
    .addColumn('status', 'integer', (c) => c.notNull())
    .addColumn('body', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_key', ['workspace_id', 'key'])
    .execute()
  await createIndex(db, 'idempotency_keys', 'idempotency_keys_by_age', ['created_at'])
}

async function createCounters(db: Kysely<unknown>, { postgres, bigint, text }: ColumnTypes) {
  await db.schema
    .createTable('click_marks')
    .addColumn('node', text, (c) => c.primaryKey())
    .addColumn('batch', bigint, (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('visitor_salts')
    .addColumn('day', text, (c) => c.primaryKey())
    .addColumn('salt', text, (c) => c.notNull())
    .execute()
  // An unlogged table costs no fsync. A crash of PostgreSQL empties it, and rate limits may start again from zero.
  if (!postgres) return
  await sql`create unlogged table rate_windows (
    key text primary key, hits bigint[] not null, allowed integer not null, expires_at bigint not null
  )`.execute(db)
}
