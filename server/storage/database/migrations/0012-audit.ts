// The audit log, which the application can only append to, and the scopes and the expiry of API keys.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { type ColumnTypes, getColumnTypes } from './columns.ts'

/** 180 days in milliseconds. A migration is never edited, so it has a number of its own. */
const KEPT_MS = 15_552_000_000

export function audit(engine: DatabaseEngine) {
  const types = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await createAuditEvents(db, types)
      if (types.postgres) await refuseChangesInPostgres(db)
      else await refuseChangesInSqlite(db)
      // Keys of earlier releases have full access and never expire.
      await db.schema
        .alterTable('api_keys')
        .addColumn('scopes', types.text, (c) => c.notNull().defaultTo('*'))
        .execute()
      await db.schema.alterTable('api_keys').addColumn('expires_at', types.bigint).execute()
    },
  }
}

async function createAuditEvents(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'audit_events')
    .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
    .addColumn('at', bigint, (c) => c.notNull())
    .addColumn('actor_type', text, (c) => c.notNull())
    // No foreign key: an event stays after its person or key is deleted.
    .addColumn('actor_id', bigint)
    .addColumn('actor_name', text)
    .addColumn('action', text, (c) => c.notNull())
    .addColumn('target_type', text)
    .addColumn('target_id', text)
    .addColumn('target_name', text)
    .addColumn('detail', text, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('audit_events_by_workspace')
    .on('audit_events')
    .columns(['workspace_id', 'id'])
    .execute()
  await db.schema.createIndex('audit_events_by_age').on('audit_events').column('at').execute()
}

/** The deletion of a workspace deletes its events by "on delete cascade": the workspace is gone before they are. */
async function refuseChangesInSqlite(db: Kysely<unknown>) {
  await sql`create trigger audit_events_never_change before update on audit_events
    begin select raise(abort, 'audit events are append-only'); end`.execute(db)
  await sql`create trigger audit_events_stay before delete on audit_events
    when old.at >= unixepoch() * 1000 - ${sql.raw(String(KEPT_MS))}
      and exists (select 1 from workspaces where id = old.workspace_id)
    begin select raise(abort, 'audit events are append-only'); end`.execute(db)
}

async function refuseChangesInPostgres(db: Kysely<unknown>) {
  await sql`create function refuse_audit_change() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        if old.at < (extract(epoch from clock_timestamp()) * 1000)::bigint - ${sql.raw(String(KEPT_MS))}
          or not exists (select 1 from workspaces where id = old.workspace_id) then
          return old;
        end if;
      end if;
      raise exception 'audit events are append-only';
    end $$`.execute(db)
  await sql`create trigger audit_events_append_only before update or delete on audit_events
    for each row execute function refuse_audit_change()`.execute(db)
  await sql`create trigger audit_events_never_empty before truncate on audit_events
    for each statement execute function refuse_audit_change()`.execute(db)
}
