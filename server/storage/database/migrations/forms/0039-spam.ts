// Spam: the classifier's counts of a workspace, its allowed senders, and the text of a late notification.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export const spam = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    await db.schema.alterTable('submissions').addColumn('learned', text).execute()
    for (const name of ['page_seconds', 'announced_at'])
      await db.schema.alterTable('submissions').addColumn(name, bigint).execute()
    await db.schema
      .createTable('spam_totals')
      .addColumn('workspace_id', bigint, (c) =>
        c.primaryKey().references('workspaces.id').onDelete('cascade'),
      )
      .addColumn('spam', bigint, (c) => c.notNull().defaultTo(0))
      .addColumn('good', bigint, (c) => c.notNull().defaultTo(0))
      .addColumn('revision', bigint, (c) => c.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createTable('spam_words')
      .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('word', bigint, (c) => c.notNull())
      .addColumn('spam', bigint, (c) => c.notNull())
      .addColumn('good', bigint, (c) => c.notNull())
      .addPrimaryKeyConstraint('spam_words_pk', ['workspace_id', 'word'])
      .execute()
    await table(db, 'allowed_senders')
      .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('address', text, (c) => c.notNull())
      .addColumn('created_at', bigint, (c) => c.notNull())
      .execute()
    await sql`create unique index allowed_senders_by_address on allowed_senders (workspace_id, address)`.execute(
      db,
    )
  },
})
