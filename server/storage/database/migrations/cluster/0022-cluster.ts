// Several processes on one database: the facts of the installation, the nodes that live, and their leases.

import { type Kysely, sql } from 'kysely'
import { randomToken } from '../../../../lib/crypto/random.ts'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function cluster(engine: DatabaseEngine) {
  const { bigint, text } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('instance')
        .addColumn('id', 'integer', (c) => c.primaryKey())
        .addColumn('name', text, (c) => c.notNull())
        .addColumn('secret_fingerprint', text)
        .addColumn('floor', text, (c) => c.notNull())
        .execute()
      // Releases before this migration do not know of other servers, so none of them may use the database any more.
      await sql`insert into instance (id, name, floor) values (1, ${randomToken(16)}, '0022-cluster')`.execute(
        db,
      )
      await db.schema
        .createTable('nodes')
        .addColumn('node', text, (c) => c.primaryKey())
        .addColumn('process', text, (c) => c.notNull())
        .addColumn('place', text)
        .addColumn('version', text, (c) => c.notNull())
        .addColumn('hit_store', text, (c) => c.notNull())
        .addColumn('settings', text, (c) => c.notNull())
        .addColumn('started_at', bigint, (c) => c.notNull())
        .addColumn('seen_at', bigint, (c) => c.notNull())
        .addColumn('shipped_until', bigint, (c) => c.notNull())
        .addColumn('left_at', bigint)
        .execute()
      await db.schema
        .createTable('leases')
        .addColumn('name', text, (c) => c.primaryKey())
        .addColumn('node', text, (c) => c.notNull())
        .addColumn('until', bigint, (c) => c.notNull())
        .execute()
    },
  }
}
