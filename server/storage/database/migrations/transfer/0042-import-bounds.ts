// Bounds of imports: the workspace that owns each form key for ever, and an index of the files that dry runs keep.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export const importBounds = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text } = getColumnTypes(engine)
    // No foreign key: the row outlives the form and the workspace, whose id is never given to another one.
    await db.schema
      .createTable('form_keys')
      .addColumn('form_key', text, (c) => c.primaryKey())
      .addColumn('workspace_id', bigint, (c) => c.notNull())
      .execute()
    await sql`insert into form_keys (form_key, workspace_id) select form_key, workspace_id from forms`.execute(
      db,
    )
    // The audit log knows the forms that were deleted in the 180 days before this step.
    await sql`insert into form_keys (form_key, workspace_id)
      select target_id, min(workspace_id) from audit_events
      where action = 'form.deleted' and target_id is not null group by target_id
      on conflict do nothing`.execute(db)
    await createTrigger(db, engine)
    await sql`create index imports_of_dry_runs on imports (node, finished_at)
      where dry_run = 1 and status = 'done'`.execute(db)
  },
})

const ON_INSERT = sql`
  insert into form_keys (form_key, workspace_id) values (new.form_key, new.workspace_id) on conflict do nothing;`

/** A trigger, because servers of the release before this one create forms beside it while a cluster is updated. */
async function createTrigger(db: Kysely<unknown>, engine: DatabaseEngine) {
  if (engine === 'sqlite') {
    await sql`create trigger form_created after insert on forms begin ${ON_INSERT} end`.execute(db)
    return
  }
  await sql`create function keep_form_key() returns trigger language plpgsql as $$
    begin ${ON_INSERT} return new; end $$`.execute(db)
  await sql`create trigger form_created after insert on forms
    for each row execute function keep_form_key()`.execute(db)
}
