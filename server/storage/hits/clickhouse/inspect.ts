// Inspects the tables in ClickHouse: their marks, and the clicks of each link.

import { IS_CLICK } from '../hit-day.ts'
import type { HitInspection } from '../hit-engine.ts'
import { type ClickHouseClient, createClickHouseClient } from './client.ts'
import { QUESTION_SETTINGS } from './query.ts'

/**
 * The hits of a batch are stored a moment before its mark. So the count includes all batches of the marks before it, and
 * a caller that finds too many clicks must try again.
 */
export async function inspectClickHouse(
  client: Pick<ClickHouseClient, 'select'>,
  withClicks: boolean,
): Promise<HitInspection> {
  const [[version] = []] = await client.select('SELECT version()')
  const marks = await readMarks(client)
  const inspection = { version: `ClickHouse ${version}`, marks, marksAfter: marks }
  if (!withClicks) return inspection
  const rows = await client.select(
    `SELECT link_id, count() FROM hits WHERE ${IS_CLICK} AND link_id > 0 GROUP BY link_id ORDER BY link_id`,
    { settings: QUESTION_SETTINGS },
  )
  return {
    ...inspection,
    marksAfter: await readMarks(client),
    clicks: {
      linkIds: Float64Array.from(rows, ([id]) => Number(id)),
      clicks: Float64Array.from(rows, ([, clicks]) => Number(clicks)),
    },
  }
}

async function readMarks(client: Pick<ClickHouseClient, 'select'>): Promise<Record<string, number>> {
  const rows = await client.select('SELECT node, max(batch) FROM hit_marks WHERE batch > 0 GROUP BY node')
  return Object.fromEntries(rows.map(([node, batch]) => [String(node), Number(batch)]))
}

/** Inspects without an engine, for a command beside the server. */
export async function inspectClickHouseAt(urls: string[], withClicks: boolean): Promise<HitInspection> {
  const client = createClickHouseClient(urls)
  try {
    return await inspectClickHouse(client, withClicks)
  } finally {
    await client.close()
  }
}
