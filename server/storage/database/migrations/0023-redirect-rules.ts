// Columns of links: ordered redirect rules, and the handling of a path after the slug.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, getColumnTypes } from './columns.ts'

export const redirectRules = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { text } = getColumnTypes(engine)
    await addColumns(db, 'links', ['rules'], text, (column) => column.notNull().defaultTo('[]'))
    await addColumns(db, 'links', ['extra_path'], text, (column) => column.notNull().defaultTo('ignore'))
  },
})
