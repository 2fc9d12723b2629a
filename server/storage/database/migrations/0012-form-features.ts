// Forms: pages, rules, files, replies, spam, retention, receipts of erasures, and the permanent owner of each form key.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, type ColumnTypes, fromZero, getColumnTypes, ofWorkspace } from './columns.ts'

/** The maximum of a form's retention. */
const KEPT_DAYS = 3650

export const formFeatures = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const types = getColumnTypes(engine)
    await extendForms(db, types)
    await extendSubmissions(db, types)
    await createFiles(db, types)
    await createReplies(db, types)
    await createSpam(db, types)
    await createReceipts(db, types)
    await createFormKeys(db, types)
  },
})

async function extendForms(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await addColumns(db, 'forms', ['next_hosts'], text, (c) => c.notNull().defaultTo('[]'))
  await addColumns(db, 'forms', ['page_url'], text)
  await addColumns(db, 'forms', ['after_submit', 'on_error'], text, (c) => c.notNull().defaultTo('referer'))
  await addColumns(db, 'forms', ['uploads', 'reply', 'spam', 'rules', 'messages', 'consent'], text)
  await addColumns(db, 'forms', ['retention_days', 'spam_retention_days'], bigint)
  // 0.1.0 does not erase spam. Existing forms keep it until their owners choose a retention.
  await sql`update forms set spam_retention_days = ${KEPT_DAYS}`.execute(db)
  // The job that deletes old attempts searches for its rows in slices.
  await sql`create index form_attempts_by_age on form_attempts (day)`.execute(db)
}

async function extendSubmissions(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  // A site is not a source of its own forms, but in 0.1.0 the referrer of a submission without a visit is the form's own site.
  await sql`update touches set referrer = null where referrer is not null and submission_id in (
    select id from submissions where session_linked = 0 and referrer is not null)`.execute(db)
  await sql`update submissions set referrer = null where session_linked = 0 and referrer is not null`.execute(
    db,
  )
  await addColumns(db, 'submissions', ['spam_reasons', 'consent', 'language'], text)
  await addColumns(db, 'submissions', ['announced'], 'integer', (c) => c.notNull().defaultTo(1))
  await addColumns(db, 'submissions', ['learned'], text)
  await addColumns(db, 'submissions', ['page_seconds', 'announced_at'], bigint)
  // With the status in the index, counting the unread submissions reads none of them.
  for (const [name, owner] of Object.entries({ form: 'form_id', workspace: 'workspace_id' })) {
    const index = sql.ref(`submissions_by_${name}`)
    await sql`drop index ${index}`.execute(db)
    await sql`create index ${index} on submissions (${sql.ref(owner)}, created_at, id, status)`.execute(db)
  }
  // The retention job looks for them. They are few, so other submissions cost nothing more.
  await sql`create index submissions_held_back on submissions (form_id, status, created_at)
    where status in ('spam', 'unconfirmed')`.execute(db)
}

async function createFiles(db: Kysely<unknown>, { bigint, text, table, postgres }: ColumnTypes) {
  await table(db, 'submission_files')
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('submission_id', bigint, (c) => c.notNull().references('submissions.id').onDelete('cascade'))
    .addColumn('field', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('type', text, (c) => c.notNull())
    .addColumn('bytes', bigint, (c) => c.notNull())
    .addColumn('sha256', text, (c) => c.notNull())
    .addColumn('key', text, (c) => c.notNull().unique())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .execute()
  await sql`create index submission_files_of_submission on submission_files (submission_id, id)`.execute(db)
  await sql`create index submission_files_of_workspace on submission_files (workspace_id, id)`.execute(db)
  await db.schema
    .createTable('upload_totals')
    .addColumn('workspace_id', bigint, (c) => c.primaryKey().references('workspaces.id').onDelete('cascade'))
    .addColumn('files', bigint, fromZero)
    .addColumn('bytes', bigint, fromZero)
    .execute()
  await db.schema
    .createTable('erased_files')
    .addColumn('key', text, (c) => c.primaryKey())
    .addColumn('bytes', bigint, (c) => c.notNull())
    .execute()
  // Every deletion of a row must queue its file's key for the eraser. A trigger also sees the deletions of
  // forms and workspaces too.
  const onDelete = sql`
  insert into erased_files (key, bytes) values (old.key, old.bytes) on conflict do nothing;
  update upload_totals set files = files - 1, bytes = bytes - old.bytes where workspace_id = old.workspace_id;`
  if (!postgres) {
    await sql`create trigger submission_file_deleted after delete on submission_files
      begin ${onDelete} end`.execute(db)
    return
  }
  await sql`create function leave_erased_file() returns trigger language plpgsql as $$
    begin ${onDelete} return old; end $$`.execute(db)
  await sql`create trigger submission_file_deleted after delete on submission_files
    for each row execute function leave_erased_file()`.execute(db)
}

/** The last reply to each address, and the addresses that have unsubscribed. */
async function createReplies(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await db.schema
    .createTable('replies')
    .addColumn('form_id', bigint, (c) => c.notNull().references('forms.id').onDelete('cascade'))
    .addColumn('address', text, (c) => c.notNull())
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('queued_at', bigint, (c) => c.notNull())
    .addColumn('confirms', 'integer', fromZero)
    .addPrimaryKeyConstraint('replies_key', ['form_id', 'address'])
    .execute()
  await sql`create index replies_of_workspace on replies (workspace_id, queued_at)`.execute(db)
  await sql`create index replies_by_age on replies (queued_at)`.execute(db)
  await db.schema
    .createTable('reply_stops')
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('address', text, (c) => c.notNull())
    .addColumn('stopped_at', bigint, (c) => c.notNull())
    .addPrimaryKeyConstraint('reply_stops_key', ['workspace_id', 'address'])
    .execute()
}

/** The classifier's counts of each workspace, and its allowed senders. */
async function createSpam(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await db.schema
    .createTable('spam_totals')
    .addColumn('workspace_id', bigint, (c) => c.primaryKey().references('workspaces.id').onDelete('cascade'))
    .addColumn('spam', bigint, fromZero)
    .addColumn('good', bigint, fromZero)
    .addColumn('revision', bigint, fromZero)
    .execute()
  await db.schema
    .createTable('spam_words')
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('word', bigint, (c) => c.notNull())
    .addColumn('spam', bigint, (c) => c.notNull())
    .addColumn('good', bigint, (c) => c.notNull())
    .addPrimaryKeyConstraint('spam_words_pk', ['workspace_id', 'word'])
    .execute()
  await table(db, 'allowed_senders')
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('address', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .execute()
  await sql`create unique index allowed_senders_by_address on allowed_senders (workspace_id, address)`.execute(
    db,
  )
}

/** Receipts of erasures: time, counts and a keyed hash of the address. */
async function createReceipts(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'erasure_receipts')
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('email_hash', text, (c) => c.notNull())
    .addColumn('started_at', bigint, (c) => c.notNull())
    .addColumn('finished_at', bigint)
    .addColumn('submissions', bigint, fromZero)
    .addColumn('files', bigint, fromZero)
    .addColumn('deliveries', bigint, fromZero)
    .addColumn('replies', bigint, fromZero)
    .execute()
  await sql`create index erasure_receipts_by_workspace on erasure_receipts (workspace_id, id)`.execute(db)
  await sql`create index erasure_receipts_by_address on erasure_receipts (workspace_id, email_hash, id)`.execute(
    db,
  )
}

async function createFormKeys(db: Kysely<unknown>, { bigint, text, postgres }: ColumnTypes) {
  // No foreign key: the row outlives the form and the workspace. Ids of workspaces are never used again.
  await db.schema
    .createTable('form_keys')
    .addColumn('form_key', text, (c) => c.primaryKey())
    .addColumn('workspace_id', bigint, (c) => c.notNull())
    .execute()
  await sql`insert into form_keys (form_key, workspace_id) select form_key, workspace_id from forms`.execute(
    db,
  )
  // A trigger, because servers of the previous release also create forms while a cluster is upgraded.
  const onInsert = sql`
  insert into form_keys (form_key, workspace_id) values (new.form_key, new.workspace_id) on conflict do nothing;`
  if (!postgres) {
    await sql`create trigger form_created after insert on forms begin ${onInsert} end`.execute(db)
    return
  }
  await sql`create function keep_form_key() returns trigger language plpgsql as $$
    begin ${onInsert} return new; end $$`.execute(db)
  await sql`create trigger form_created after insert on forms
    for each row execute function keep_form_key()`.execute(db)
}
