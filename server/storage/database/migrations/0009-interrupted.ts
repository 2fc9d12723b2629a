// Attempts that ended with the process and not with an answer are counted apart: they say nothing about the receiver.

import type { Kysely } from 'kysely'

export const interrupted = () => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('deliveries')
      .addColumn('interrupted', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
  },
})
