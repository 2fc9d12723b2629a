// Form features beyond fields: files, replies, spam rules, field rules, retention and consent.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

/** The longest time that a form can have. */
const KEPT_DAYS = 3650

export const formAnswers = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text } = getColumnTypes(engine)
    for (const name of ['uploads', 'reply', 'spam', 'rules', 'messages', 'consent'])
      await db.schema.alterTable('forms').addColumn(name, text).execute()
    for (const name of ['retention_days', 'spam_retention_days'])
      await db.schema.alterTable('forms').addColumn(name, bigint).execute()
    // Until now nothing erased spam. A form that is there keeps it, until its owner chooses another time.
    await sql`update forms set spam_retention_days = ${KEPT_DAYS}`.execute(db)
    for (const name of ['spam_reasons', 'consent', 'language'])
      await db.schema.alterTable('submissions').addColumn(name, text).execute()
    await db.schema
      .alterTable('submissions')
      .addColumn('announced', 'integer', (c) => c.notNull().defaultTo(1))
      .execute()
  },
})
