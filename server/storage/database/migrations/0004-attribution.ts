// The touches before each submission, and the counts of attempts to send a form.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

export function attribution(engine: DatabaseEngine) {
  const { bigint, text } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('touches')
        .addColumn('submission_id', bigint, (c) =>
          c.notNull().references('submissions.id').onDelete('cascade'),
        )
        .addColumn('position', 'integer', (c) => c.notNull())
        .addColumn('touches', 'integer', (c) => c.notNull())
        .addColumn('workspace_id', bigint, (c) => c.notNull())
        .addColumn('at', bigint, (c) => c.notNull())
        .addColumn('kind', text, (c) => c.notNull())
        .addColumn('link_id', bigint)
        .addColumn('click_id', text)
        .addColumn('referrer', text)
        .addColumn('landing_url', text)
        .addColumn('utm_source', text)
        .addColumn('utm_medium', text)
        .addColumn('utm_campaign', text)
        .addColumn('utm_term', text)
        .addColumn('utm_content', text)
        .addPrimaryKeyConstraint('touches_key', ['submission_id', 'position'])
        .execute()
      await db.schema
        .createTable('form_attempts')
        .addColumn('form_id', bigint, (c) => c.notNull().references('forms.id').onDelete('cascade'))
        .addColumn('day', text, (c) => c.notNull())
        .addColumn('outcome', text, (c) => c.notNull())
        .addColumn('field', text, (c) => c.notNull())
        .addColumn('attempts', bigint, (c) => c.notNull())
        .addPrimaryKeyConstraint('form_attempts_key', ['form_id', 'day', 'outcome', 'field'])
        .execute()
    },
  }
}
