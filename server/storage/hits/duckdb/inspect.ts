// Inspects the DuckDB file: its marks, and the clicks of each link. Without a running server, it opens the file
// itself.

import { existsSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { IS_CLICK } from '../hit-day.ts'
import type { HitInspection } from '../hit-engine.ts'

/** Call it while no commit runs, so that the marks and the clicks fit together. */
export async function inspectDuckDb(
  connection: DuckDBConnection,
  withClicks: boolean,
): Promise<HitInspection> {
  const [[version] = []] = await readRows(connection, 'SELECT version()')
  const marks = Object.fromEntries(
    (await readRows(connection, 'SELECT node, max(batch) FROM marks GROUP BY node')).map(([node, batch]) => [
      String(node),
      Number(batch),
    ]),
  )
  const inspection = { version: `DuckDB ${version}`, marks, marksAfter: marks }
  if (!withClicks) return inspection
  const [linkIds = [], clicks = []] = (
    await connection.runAndReadAll(
      `SELECT link_id::DOUBLE, count(*)::DOUBLE FROM hits
       WHERE ${IS_CLICK} AND link_id > 0 GROUP BY link_id ORDER BY link_id`,
    )
  ).getColumns() as number[][]
  return { ...inspection, clicks: { linkIds: Float64Array.from(linkIds), clicks: Float64Array.from(clicks) } }
}

const readRows = async (connection: DuckDBConnection, text: string) =>
  (await connection.runAndReadAll(text)).getRows()

/**
 * Reads the file and changes nothing. The server's worker must not have it open.
 * @returns undefined without a file
 */
export async function inspectDuckDbFile(
  path: string,
  withClicks: boolean,
): Promise<HitInspection | undefined> {
  if (!existsSync(path)) return undefined
  const instance = await DuckDBInstance.create(path, {
    access_mode: 'READ_ONLY',
    enable_external_access: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  try {
    const connection = await instance.connect()
    try {
      return await inspectDuckDb(connection, withClicks)
    } finally {
      connection.closeSync()
    }
  } finally {
    instance.closeSync()
  }
}
