// Users, sessions, identities, verifications, members and invitations.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { type ColumnTypes, createIndex, getColumnTypes } from './columns.ts'

export function accounts(engine: DatabaseEngine) {
  const types = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await createUsers(db, types)
      await createSessions(db, types)
      await createIdentities(db, types)
      await createVerifications(db, types)
      await createMembers(db, types)
      await createInvitations(db, types)
    },
  }
}

async function createUsers(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'users')
    .addColumn('email', text, (c) => c.notNull().unique())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('email_verified', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('image', text)
    // Unique: when two people sign up first at the same moment, the second row is refused.
    .addColumn('founder', 'integer', (c) => c.unique())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('updated_at', bigint, (c) => c.notNull())
    .execute()
}

async function createSessions(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'sessions')
    .addColumn('user_id', bigint, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('token', text, (c) => c.notNull().unique())
    .addColumn('expires_at', bigint, (c) => c.notNull())
    .addColumn('ip_address', text)
    .addColumn('user_agent', text)
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('updated_at', bigint, (c) => c.notNull())
    .execute()
  await createIndex(db, 'sessions', 'sessions_by_user', ['user_id', 'id'])
  await createIndex(db, 'sessions', 'sessions_by_age', ['expires_at'])
}

async function createIdentities(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'identities')
    .addColumn('user_id', bigint, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('account_id', text, (c) => c.notNull())
    .addColumn('provider_id', text, (c) => c.notNull())
    .addColumn('access_token', text)
    .addColumn('refresh_token', text)
    .addColumn('id_token', text)
    .addColumn('access_token_expires_at', bigint)
    .addColumn('refresh_token_expires_at', bigint)
    .addColumn('scope', text)
    .addColumn('password', text)
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('updated_at', bigint, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('identities_provider_account')
    .unique()
    .on('identities')
    .columns(['provider_id', 'account_id'])
    .execute()
  await createIndex(db, 'identities', 'identities_by_user', ['user_id', 'id'])
}

async function createVerifications(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'verifications')
    .addColumn('identifier', text, (c) => c.notNull())
    .addColumn('value', text, (c) => c.notNull())
    .addColumn('expires_at', bigint, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('updated_at', bigint, (c) => c.notNull())
    .execute()
  await createIndex(db, 'verifications', 'verifications_by_identifier', ['identifier'])
  await createIndex(db, 'verifications', 'verifications_by_age', ['expires_at'])
}

async function createMembers(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await db.schema
    .createTable('members')
    .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
    .addColumn('user_id', bigint, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('role', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addPrimaryKeyConstraint('members_key', ['workspace_id', 'user_id'])
    .execute()
  await createIndex(db, 'members', 'members_by_user', ['user_id'])
}

async function createInvitations(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'invitations')
    .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
    .addColumn('email', text, (c) => c.notNull())
    .addColumn('role', text, (c) => c.notNull())
    .addColumn('token_hash', text, (c) => c.notNull().unique())
    .addColumn('invited_by', bigint, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('expires_at', bigint, (c) => c.notNull())
    .addColumn('accepted_at', bigint)
    .execute()
  await createIndex(db, 'invitations', 'invitations_by_workspace', ['workspace_id', 'id'])
  await createIndex(db, 'invitations', 'invitations_by_email', ['email'])
}
