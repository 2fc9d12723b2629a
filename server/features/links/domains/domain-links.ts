// Counts the links of a domain a step at a time, so that a million of them hold nobody up.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Connection } from '../../../storage/database/open-database.ts'

/** Rows that SQLite reads in some milliseconds. */
const STEP_ROWS = 2000

type Holder = { workspace_id: number; domain: string }

/** Not inside a transaction: it waits for its turns. */
export async function countDomainLinks(
  connection: Connection,
  { workspace_id, domain }: Holder,
): Promise<{ links: number; trashed: number }> {
  const counted = { links: 0, trashed: 0 }
  for (let after = ''; ; ) {
    await takeTurn()
    const step = selectLinksAfter(connection, { workspace_id, domain }, after)
      .select(['slug_key', 'deleted_at'])
      .limit(STEP_ROWS)
      .as('step')
    const { rows, trashed, last } = await connection
      .selectFrom(step)
      .select((e) => [
        e.fn.countAll<number>().as('rows'),
        e.fn.count<number>('deleted_at').as('trashed'),
        e.fn.max('slug_key').as('last'),
      ])
      .executeTakeFirstOrThrow()
    counted.links += Number(rows) - Number(trashed)
    counted.trashed += Number(trashed)
    if (Number(rows) < STEP_ROWS) return counted
    after = last
  }
}

/** In the order of their keys, which an index has. Permanently deleted links have no slug any more. */
export const selectLinksAfter = (connection: Connection, { workspace_id, domain }: Holder, after: string) =>
  connection
    .selectFrom('links')
    .where('workspace_id', '=', workspace_id)
    .where('domain', '=', domain)
    .where('purged_at', 'is', null)
    .where('slug_key', '>', after)
    .orderBy('slug_key')

export const hasLinks = async (connection: Connection, holder: Holder) =>
  (await selectLinksAfter(connection, holder, '').select('id').limit(1).executeTakeFirst()) !== undefined
