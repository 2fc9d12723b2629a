// Splits of links: the variants, end and result of a link's split, and the variant of each touch.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, getColumnTypes } from './columns.ts'

export const splits = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text } = getColumnTypes(engine)
    await addColumns(db, 'links', ['split', 'split_result'], text)
    await addColumns(db, 'links', ['split_started_at', 'split_ends_at'], bigint)
    await sql`create index links_split_ends on links (split_ends_at) where split_ends_at is not null`.execute(
      db,
    )
    await addColumns(db, 'touches', ['variant'], text)
  },
})
