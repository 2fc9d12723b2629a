// The counters on links, advanced from the same batches that the analytics are made of.

import { sql } from 'kysely'
import type { Rows } from '../../storage/rows/open.ts'

export interface ClickBatch {
  node: string
  number: number
  /** Human clicks by link, and when the last of them was. */
  counts: [linkId: number, clicks: number, lastAt: number][]
}

/** Adds a batch once: its number and its counts are one transaction, and a number that was added adds nothing. */
export async function countClicks(rows: Rows, batch: ClickBatch): Promise<void> {
  await rows.write(async (db) => {
    const fresh = await db
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
    // In one order everywhere, so that two nodes adding to the same links cannot lock each other out.
    for (const [id, clicks, lastAt] of [...batch.counts].sort(([a], [b]) => a - b)) {
      await db
        .updateTable('links')
        .set({
          clicks: sql`clicks + ${clicks}`,
          last_clicked_at: sql`case when coalesce(last_clicked_at, 0) < ${lastAt} then ${lastAt} else last_clicked_at end`,
        })
        .where('id', '=', id)
        .execute()
    }
  })
}

/** The last batch of this node that the counters have. */
export async function countedBatch(rows: Rows, node: string): Promise<number> {
  const mark = await rows.read
    .selectFrom('click_marks')
    .select('batch')
    .where('node', '=', node)
    .executeTakeFirst()
  return mark?.batch ?? 0
}
