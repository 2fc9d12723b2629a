// Alerts about new links without clicks: the time up to which links have been checked.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, getColumnTypes } from './columns.ts'

export const silentLinks = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    await addColumns(db, 'views', ['alert_links_until'], getColumnTypes(engine).bigint)
  },
})
