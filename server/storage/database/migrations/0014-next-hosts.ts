// The hosts that `_next` of a form may lead to.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

export const nextHosts = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { text } = getColumnTypes(engine)
    await db.schema
      .alterTable('forms')
      .addColumn('next_hosts', text, (c) => c.notNull().defaultTo('[]'))
      .execute()
  },
})
