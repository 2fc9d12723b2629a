// Reads all rows of all tables: a test compares them before and after something that must change nothing.

import type { Tables } from '../../../server/storage/database/tables.ts'
import type { TestServer } from '../world.ts'

/** @param ignored tables that change by themselves @returns the rows of each table as sorted lines of JSON */
export async function readAllRows(
  { app }: Pick<TestServer, 'app'>,
  ignored: RegExp,
): Promise<Record<string, string[]>> {
  const connection = app.db.read
  const tables = (await connection.introspection.getTables())
    .map(({ name }) => name)
    .filter((name) => !ignored.test(name))
  const contents = tables.map(async (table) => {
    const rows = await connection
      .selectFrom(table as keyof Tables)
      .selectAll()
      .execute()
    return [table, rows.map((row) => JSON.stringify({ ...row, last_used_at: null })).sort()]
  })
  return Object.fromEntries(await Promise.all(contents))
}
