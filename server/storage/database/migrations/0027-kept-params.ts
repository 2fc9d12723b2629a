// The query parameters that a workspace keeps of its clicks: a JSON list of names.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, getColumnTypes } from './columns.ts'

export const keptParams = (engine: DatabaseEngine) => ({
  up: (db: Kysely<unknown>) => addColumns(db, 'workspaces', ['kept_params'], getColumnTypes(engine).text),
})
