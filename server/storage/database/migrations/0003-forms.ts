// Forms, submissions and used captcha tokens.

import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { type ColumnTypes, createIndex, getColumnTypes } from './columns.ts'

export function forms(engine: DatabaseEngine) {
  const types = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await createForms(db, types)
      await createSubmissions(db, types)
      await createCaptchaTokens(db, types)
    },
  }
}

async function createForms(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
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
  await createIndex(db, 'forms', 'forms_by_created_at', ['workspace_id', 'created_at', 'id'])
}

async function createSubmissions(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
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
  for (const column of VISITOR_COLUMNS) submissions = submissions.addColumn(column, text)
  await submissions.addColumn('created_at', bigint, (c) => c.notNull()).execute()
  await createIndex(db, 'submissions', 'submissions_by_form', ['form_id', 'created_at', 'id'])
  await createIndex(db, 'submissions', 'submissions_by_workspace', ['workspace_id', 'created_at', 'id'])
  await createIndex(db, 'submissions', 'submissions_by_fingerprint', ['fingerprint', 'created_at'])
  // This index is tiny: it has the submissions of the last seconds.
  await db.schema
    .createIndex('submissions_with_attribution_due')
    .on('submissions')
    .columns(['workspace_id', 'id'])
    .where(sql.ref('attribution_due'), '=', 1)
    .execute()
}

async function createCaptchaTokens(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await db.schema
    .createTable('captcha_tokens')
    .addColumn('token', text, (c) => c.primaryKey())
    .addColumn('expires_at', bigint, (c) => c.notNull())
    .execute()
  await createIndex(db, 'captcha_tokens', 'captcha_tokens_by_expiry', ['expires_at'])
}

const VISITOR_COLUMNS = [
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
