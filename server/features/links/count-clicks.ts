// Adds batches of clicks to the counters of the links. The analytics are made from the same batches.

import { type RawBuilder, sql } from 'kysely'
import { nextTurn } from '../../lib/concurrency/next-turn.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'

// One statement takes about a millisecond. Most statements have the same text, which the database then has prepared.
const LINKS_PER_STATEMENT = 100

export interface ClickBatch {
  node: string
  number: number
  /** Human clicks by link, with the time of the last one. */
  counts: [linkId: number, clicks: number, lastAt: number][]
}

/** Adds a batch once: number and counts are stored in one transaction, and a known number adds nothing. */
export async function countClicks(db: Database, batch: ClickBatch): Promise<void> {
  await db.write(async (connection) => {
    const fresh = await connection
      .insertInto('click_marks')
      .values({ node: batch.node, batch: batch.number })
      .onConflict((conflict) =>
        conflict
          .column('node')
          .doUpdateSet({ batch: batch.number })
          .where('click_marks.batch', '<', batch.number),
      )
      .returning('batch')
      .executeTakeFirst()
    if (!fresh) return
    const counts = [...batch.counts].sort(([a], [b]) => a - b)
    for (let from = 0; from < counts.length; from += LINKS_PER_STATEMENT) {
      // Let redirects run between two statements.
      if (from > 0) await nextTurn()
      await addClicks(db.engine, connection, counts.slice(from, from + LINKS_PER_STATEMENT))
    }
  })
}

type LinkCount = ClickBatch['counts'][number]

async function addClicks(engine: Database['engine'], connection: Connection, counts: LinkCount[]) {
  if (engine === 'postgres') {
    // Lock in one order, so that two nodes that add to the same links cannot deadlock.
    const ids = counts.map(([id]) => id)
    await connection
      .selectFrom('links')
      .select('id')
      .where('id', 'in', ids)
      .orderBy('id')
      .forUpdate()
      .execute()
  }
  await sql`
    update links set clicks = clicks + added,
      last_clicked_at = case when coalesce(last_clicked_at, 0) < last_at then last_at else last_clicked_at end
    from (${TO_ROWS[engine](JSON.stringify(counts))}) as counted where id = link_id`.execute(connection)
}

/** Makes rows from one JSON value: a statement with hundreds of values takes Kysely longer than the database. */
const TO_ROWS: Record<Database['engine'], (json: string) => RawBuilder<unknown>> = {
  sqlite: (json) => sql`
    select value ->> 0 as link_id, value ->> 1 as added, value ->> 2 as last_at from json_each(${json})`,
  postgres: (json) => sql`
    select (each ->> 0)::bigint as link_id, (each ->> 1)::bigint as added, (each ->> 2)::bigint as last_at
    from json_array_elements(${json}::json) as each`,
}

/** The number of the node's last batch that the counters contain; 0 when there is none. */
export async function getCountedBatch(db: Database, node: string): Promise<number> {
  const mark = await db.read
    .selectFrom('click_marks')
    .select('batch')
    .where('node', '=', node)
    .executeTakeFirst()
  return mark?.batch ?? 0
}

/** Whether the counters contain a batch of any node. */
export async function hasCountedBatches(db: Database): Promise<boolean> {
  return (await db.read.selectFrom('click_marks').select('node').limit(1).executeTakeFirst()) !== undefined
}
