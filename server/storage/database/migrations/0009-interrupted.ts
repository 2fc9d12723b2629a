// A count of attempts that ended with the process. They are not failures of the receiver.

import type { Kysely } from 'kysely'

export const interrupted = () => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('deliveries')
      .addColumn('interrupted', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
  },
})
