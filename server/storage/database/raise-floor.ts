// Locks older releases out: they refuse a database whose floor is a migration that they do not know.

import { type Kysely, sql } from 'kysely'

/**
 * Call it in a migration if releases without the migration `floor` cannot use the result, for example after a column was
 * dropped. It is part of the transaction of the migration. See UPGRADING.md, "A cluster".
 */
export async function raiseFloor(db: Kysely<unknown>, floor: string): Promise<void> {
  await sql`update instance set floor = ${floor} where id = 1`.execute(db)
}
