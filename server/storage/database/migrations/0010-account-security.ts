// Second factors of people, suspensions by the operator, scopes and expiry of API keys, and the audit log, which the
// application can only append to.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, type ColumnTypes, fromZero, getColumnTypes, ofWorkspace } from './columns.ts'

/** 180 days in milliseconds. A migration is never edited, so it does not import this number. */
const KEPT_MS = 15_552_000_000

export const accountSecurity = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const types = getColumnTypes(engine)
    const { bigint, text, table } = types
    await addColumns(db, 'sessions', ['awaits_second_factor'], 'integer', fromZero)
    await addColumns(db, 'workspaces', ['require_two_factor'], 'integer', fromZero)
    for (const name of ['workspaces', 'users']) {
      await addColumns(db, name, ['suspended_at'], bigint)
      await addColumns(db, name, ['suspended_reason'], text)
    }
    await addColumns(db, 'workspaces', ['missing_report_above'], bigint)
    // Keys of 0.1.0 have full access and never expire.
    await addColumns(db, 'api_keys', ['scopes'], text, (c) => c.notNull().defaultTo('*'))
    await addColumns(db, 'api_keys', ['expires_at'], bigint)
    await createSecondFactors(db, types)
    await createAuditEvents(db, types)
    if (types.postgres) await refuseChangesInPostgres(db)
    else await refuseChangesInSqlite(db)
    await table(db, 'suspension_changes')
      .addColumn('kind', text, (c) => c.notNull())
      .addColumn('target_id', bigint, (c) => c.notNull())
      .addColumn('at', bigint, (c) => c.notNull())
      .execute()
    // Old rows are deleted in slices, and each slice searches for its rows.
    await sql`create index sessions_by_creation on sessions (created_at)`.execute(db)
    await sql`create index invitations_by_age on invitations (expires_at)`.execute(db)
    await sql`create index invitations_by_acceptance on invitations (accepted_at)`.execute(db)
  },
})

async function createSecondFactors(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await db.schema
    .createTable('totp_secrets')
    .addColumn('user_id', bigint, (c) => c.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('secret', text, (c) => c.notNull())
    .addColumn('last_step', bigint, fromZero)
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('confirmed_at', bigint)
    .execute()
  await table(db, 'recovery_codes')
    .addColumn('user_id', bigint, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('hash', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .execute()
  await sql`create unique index recovery_codes_by_user on recovery_codes (user_id, hash)`.execute(db)
  await table(db, 'passkeys')
    .addColumn('user_id', bigint, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('credential_id', text, (c) => c.notNull().unique())
    .addColumn('public_key', text, (c) => c.notNull())
    .addColumn('sign_count', bigint, (c) => c.notNull())
    .addColumn('transports', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('last_used_at', bigint)
    .execute()
  await sql`create index passkeys_by_user on passkeys (user_id, id)`.execute(db)
}

async function createAuditEvents(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'audit_events')
    .addColumn('workspace_id', bigint, ofWorkspace)
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
  await sql`create index audit_events_by_workspace on audit_events (workspace_id, id)`.execute(db)
  await sql`create index audit_events_by_age on audit_events (at)`.execute(db)
}

/** The deletion of a workspace deletes its events by "on delete cascade", when the workspace's row is already deleted. */
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
