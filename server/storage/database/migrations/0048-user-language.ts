// The language that a person has chosen for the dashboard.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, getColumnTypes } from './columns.ts'

export const userLanguage = (engine: DatabaseEngine) => ({
  up: (db: Kysely<unknown>) => addColumns(db, 'users', ['language'], getColumnTypes(engine).text),
})
