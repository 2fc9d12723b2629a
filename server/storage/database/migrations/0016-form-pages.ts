// The page of a form, and where a browser goes after a native submission and after a mistake in one.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

export const formPages = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { text } = getColumnTypes(engine)
    await db.schema.alterTable('forms').addColumn('page_url', text).execute()
    for (const name of ['after_submit', 'on_error']) {
      await db.schema
        .alterTable('forms')
        .addColumn(name, text, (c) => c.notNull().defaultTo('referer'))
        .execute()
    }
  },
})
