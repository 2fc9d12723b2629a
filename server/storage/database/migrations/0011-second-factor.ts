// Second factors of people: authenticator apps, recovery codes and passkeys; and what a workspace asks of its members.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { type ColumnTypes, getColumnTypes } from './columns.ts'

export function secondFactor(engine: DatabaseEngine) {
  const types = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('sessions')
        .addColumn('awaits_second_factor', 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
      await db.schema
        .alterTable('workspaces')
        .addColumn('require_two_factor', 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
      await createTotpSecrets(db, types)
      await createRecoveryCodes(db, types)
      await createPasskeys(db, types)
    },
  }
}

async function createTotpSecrets(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await db.schema
    .createTable('totp_secrets')
    .addColumn('user_id', bigint, (c) => c.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('secret', text, (c) => c.notNull())
    .addColumn('last_step', bigint, (c) => c.notNull().defaultTo(0))
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('confirmed_at', bigint)
    .execute()
}

async function createRecoveryCodes(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'recovery_codes')
    .addColumn('user_id', bigint, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('hash', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('recovery_codes_by_user')
    .unique()
    .on('recovery_codes')
    .columns(['user_id', 'hash'])
    .execute()
}

async function createPasskeys(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
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
  await db.schema.createIndex('passkeys_by_user').on('passkeys').columns(['user_id', 'id']).execute()
}
