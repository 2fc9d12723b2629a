// Forms and what visitors sent with them.

import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

export function forms(engine: DatabaseEngine) {
  const { bigint, text, table } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await table(db, 'forms')
        .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
        .addColumn('form_key', text, (c) => c.notNull().unique())
        .addColumn('name', text, (c) => c.notNull())
        .addColumn('enabled', 'integer', (c) => c.notNull().defaultTo(1))
        .addColumn('required_fields', text, (c) => c.notNull().defaultTo('[]'))
        .addColumn('redirect_url', text)
        .addColumn('captcha', 'integer', (c) => c.notNull().defaultTo(0))
        .addColumn('success_message', text)
        .addColumn('allowed_origins', text, (c) => c.notNull().defaultTo('[]'))
        .addColumn('channel_ids', text, (c) => c.notNull().defaultTo('[]'))
        .addColumn('created_at', bigint, (c) => c.notNull())
        .addColumn('updated_at', bigint, (c) => c.notNull())
        .execute()
      await db.schema
        .createIndex('forms_by_created_at')
        .on('forms')
        .columns(['workspace_id', 'created_at', 'id'])
        .execute()

      let submissions = table(db, 'submissions')
        .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
        .addColumn('form_id', bigint, (c) => c.notNull().references('forms.id').onDelete('cascade'))
        .addColumn('fields', text, (c) => c.notNull())
        .addColumn('search_text', text, (c) => c.notNull())
        .addColumn('status', text, (c) => c.notNull().defaultTo('new'))
        .addColumn('notes', text)
        .addColumn('email', text)
        .addColumn('fingerprint', text, (c) => c.notNull())
        .addColumn('duplicate_of', bigint)
        .addColumn('visitor', text)
        .addColumn('link_id', bigint)
        .addColumn('click_id', text)
        .addColumn('event_id', text)
        .addColumn('session_linked', 'integer', (c) => c.notNull().defaultTo(0))
        .addColumn('attribution', text, (c) => c.notNull().defaultTo('none'))
        .addColumn('attribution_due', 'integer', (c) => c.notNull().defaultTo(0))
      for (const column of DESCRIBED) submissions = submissions.addColumn(column, text)
      await submissions.addColumn('created_at', bigint, (c) => c.notNull()).execute()
      await db.schema
        .createIndex('submissions_by_form')
        .on('submissions')
        .columns(['form_id', 'created_at', 'id'])
        .execute()
      await db.schema
        .createIndex('submissions_by_workspace')
        .on('submissions')
        .columns(['workspace_id', 'created_at', 'id'])
        .execute()
      await db.schema
        .createIndex('submissions_by_fingerprint')
        .on('submissions')
        .columns(['fingerprint', 'created_at'])
        .execute()
      // A handful at any time: those of the last seconds.
      await db.schema
        .createIndex('submissions_with_attribution_due')
        .on('submissions')
        .columns(['workspace_id', 'id'])
        .where(sql.ref('attribution_due'), '=', 1)
        .execute()

      await db.schema
        .createTable('captcha_tokens')
        .addColumn('token', text, (c) => c.primaryKey())
        .addColumn('expires_at', bigint, (c) => c.notNull())
        .execute()
      await db.schema
        .createIndex('captcha_tokens_by_expiry')
        .on('captcha_tokens')
        .column('expires_at')
        .execute()
    },
  }
}

const DESCRIBED = [
  'referrer',
  'page_url',
  'landing_url',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'device',
  'browser',
  'os',
  'country',
  'region',
  'city',
]
