// The progress of `towpath move`, which is kept where the rows are moved to.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function moves(engine: DatabaseEngine) {
  const { bigint, text } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('move_steps')
        .addColumn('step', text, (c) => c.primaryKey())
        .addColumn('detail', text, (c) => c.notNull())
        .addColumn('at', bigint, (c) => c.notNull())
        .execute()
    },
  }
}
