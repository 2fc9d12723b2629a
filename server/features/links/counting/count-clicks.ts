// Adds batches of clicks to the counters of the links. The analytics are made from the same batches.

import { sql } from 'kysely'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'

// One statement of SQLite takes about a millisecond, and holds the redirects up. PostgreSQL works in its own process.
const LINKS_PER_STATEMENT = { sqlite: 100, postgres: 1000 }

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
    const most = LINKS_PER_STATEMENT[db.engine]
    for (let from = 0; from < counts.length; from += most) {
      // Let redirects run between two statements.
      if (from > 0) await nextTurn()
      await addClicks(db.engine, connection, counts.slice(from, from + most))
    }
  })
}

type LinkCount = ClickBatch['counts'][number]

/** Counts of unknown links are ignored. */
function addClicks(engine: Database['engine'], connection: Connection, counts: LinkCount[]) {
  // JSON makes rows from one value: a statement with hundreds of values takes Kysely longer than the database.
  if (engine === 'sqlite')
    return sql`
      update links set clicks = clicks + added,
        last_clicked_at = case when coalesce(last_clicked_at, 0) < last_at then last_at else last_clicked_at end
      from (
        select value ->> 0 as link_id, value ->> 1 as added, value ->> 2 as last_at
        from json_each(${JSON.stringify(counts)})
      ) as counted where id = link_id`.execute(connection)
  // In one order, so that two nodes that add to the same links cannot deadlock.
  return sql`
    insert into link_counters as known (link_id, workspace_id, clicks, last_clicked_at)
    select links.id, links.workspace_id, added, last_at
    from unnest(
      ${counts.map(([id]) => id)}::bigint[], ${counts.map(([, clicks]) => clicks)}::bigint[],
      ${counts.map(([, , lastAt]) => lastAt)}::bigint[]
    ) as counted (id, added, last_at) join links on links.id = counted.id
    order by links.id
    on conflict (link_id) do update set clicks = known.clicks + excluded.clicks,
      last_clicked_at = greatest(known.last_clicked_at, excluded.last_clicked_at)`.execute(connection)
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
