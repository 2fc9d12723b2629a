// The mark of a node's clicks: the batches that channels have been notified of.

import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { BatchPosition } from '../../hits/batches/new-clicks.ts'
import { getCountedBatch } from '../../links/counting/count-clicks.ts'

const toConsumer = (node: string) => `clicks/${node}`

/** Makes the mark of a node at its first start: clicks that an earlier release has counted are no news. */
export async function ensureClickMark(db: Database, node: string): Promise<BatchPosition> {
  const position = await getCountedBatch(db, node)
  await db.write((connection) =>
    connection
      .insertInto('event_marks')
      .values({ consumer: toConsumer(node), position, step: 0 })
      .onConflict((conflict) => conflict.column('consumer').doNothing())
      .execute(),
  )
  return readClickMark(db, node)
}

export async function readClickMark({ read }: Database, node: string): Promise<BatchPosition> {
  const mark = await read
    .selectFrom('event_marks')
    .select(['position', 'step'])
    .where('consumer', '=', toConsumer(node))
    .executeTakeFirstOrThrow()
  return { batch: mark.position, hit: mark.step }
}

/**
 * Moves the mark in the transaction that stores the deliveries.
 * @returns false when it is no longer at `from`, because another process has handled these clicks
 */
export async function moveClickMark(
  connection: Connection,
  node: string,
  from: BatchPosition,
  to: BatchPosition,
): Promise<boolean> {
  const moved = await connection
    .updateTable('event_marks')
    .set({ position: to.batch, step: to.hit })
    .where('consumer', '=', toConsumer(node))
    .where('position', '=', from.batch)
    .where('step', '=', from.hit)
    .returning('consumer')
    .executeTakeFirst()
  return moved !== undefined
}
