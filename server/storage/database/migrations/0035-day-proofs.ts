// Proofs of closed days: a chain of hashes for each workspace.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes, ofWorkspace } from './columns.ts'

export const dayProofs = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    await table(db, 'day_proofs')
      .addColumn('workspace_id', bigint, ofWorkspace)
      .addColumn('day', text, (c) => c.notNull())
      .addColumn('kind', text, (c) => c.notNull())
      .addColumn('reason', text)
      .addColumn('hits', bigint, (c) => c.notNull())
      .addColumn('removed', bigint)
      .addColumn('digest', text, (c) => c.notNull())
      .addColumn('previous_hash', text, (c) => c.notNull())
      .addColumn('hash', text, (c) => c.notNull())
      .addColumn('created_at', bigint, (c) => c.notNull())
      .execute()
    // Each entry has at most one successor, so two processes cannot create two chains.
    await sql`create unique index day_proofs_chain on day_proofs (workspace_id, previous_hash)`.execute(db)
    await sql`create index day_proofs_by_kind on day_proofs (workspace_id, kind, day)`.execute(db)
    await sql`create index day_proofs_by_id on day_proofs (workspace_id, id)`.execute(db)
  },
})
