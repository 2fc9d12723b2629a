// Receipts of erasures: when all of an address was erased, and how much. They have a keyed hash of the address.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export const erasureReceipts = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    let receipts = table(db, 'erasure_receipts')
      .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('email_hash', text, (c) => c.notNull())
      .addColumn('started_at', bigint, (c) => c.notNull())
      .addColumn('finished_at', bigint)
    for (const name of ['submissions', 'files', 'deliveries', 'replies'])
      receipts = receipts.addColumn(name, bigint, (c) => c.notNull().defaultTo(0))
    await receipts.execute()
    await sql`create index erasure_receipts_by_workspace on erasure_receipts (workspace_id, id)`.execute(db)
    await sql`create index erasure_receipts_by_address on erasure_receipts (workspace_id, email_hash, id)`.execute(
      db,
    )
    // The retention job looks for them. They are few, so other submissions cost nothing more.
    await sql`create index submissions_held_back on submissions (form_id, status, created_at)
      where status in ('spam', 'unconfirmed')`.execute(db)
  },
})
