// Ends the time of older releases: they refuse a database whose floor is a migration that they do not know.

import { type Kysely, sql } from 'kysely'

/**
 * A migration calls this where releases without the migration `floor` cannot work with the result, such as one that
 * drops a column. It is in the transaction of the migration. See UPGRADING.md, "A cluster".
 */
export async function raiseFloor(db: Kysely<unknown>, floor: string): Promise<void> {
  await sql`update instance set floor = ${floor} where id = 1`.execute(db)
}
