// A form as a row and as an API resource, and the look-ups and the list of forms.

import { type Selectable, sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { notFound } from '../../../lib/failure.ts'
import { toIso, toIsoOrNull } from '../../../lib/iso-time.ts'
import { fitPage, type Page } from '../../../lib/pagination.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Forms } from '../../../storage/database/tables/form-tables.ts'
import type { Action, Actor } from '../../accounts/access/actor.ts'
import { toBrandResource } from '../../accounts/brand/brand.ts'
import { ANNOUNCED } from '../leads/announced.ts'
import type { FormListQueryInput, FormResource } from '../schema.ts'
import { DEFAULT_SPAM_RETENTION_DAYS } from './form-defaults.ts'
import { FORM_KEY } from './form-key.ts'
import { parseOrNull, readSubmissionSettings } from './form-settings.ts'

/** The permission that every change of a form or submission needs. */
export const FORMS_WRITE: Action = 'forms:write'

export interface FormNeeds {
  db: Database
  /** `https://go.example`, before `/f/{formKey}`. */
  origin: string
  now: () => number
  /** True where the operator blocks the URL's host. */
  isBlocked: (url: URL) => boolean
  /** False where the operator has set up no mail server. */
  canMail: boolean
  /** False when several machines serve the forms without a shared file store. */
  canStoreFiles: () => boolean
}

/** A stored form, with its submission count and the time of the newest submission. */
export type FormRow = Selectable<Forms> & { submissions: number | string; last_submission_at: number | null }

const IS_NO_TEST = sql<boolean>`submissions.announced <> ${sql.lit(ANNOUNCED.test)}`

/** The forms of a workspace. The counts need only the indexes `submissions_by_form` and `submissions_of_tests`. */
export const selectForms = (connection: Connection, actor: Pick<Actor, 'workspaceId'>) =>
  connection
    .selectFrom('forms')
    .selectAll('forms')
    .select((e) => [
      e
        .selectFrom('submissions')
        .select((of) =>
          sql<number>`${of.fn.countAll()} - ${of
            .selectFrom('submissions as tests')
            .select((tests) => tests.fn.countAll<number>().as('count'))
            .whereRef('tests.form_id', '=', 'forms.id')
            .where(sql<boolean>`tests.announced = ${sql.lit(ANNOUNCED.test)}`)}`.as('count'),
        )
        .whereRef('submissions.form_id', '=', 'forms.id')
        .$asScalar()
        .$notNull()
        .as('submissions'),
      e
        .selectFrom('submissions')
        .select('submissions.created_at')
        .whereRef('submissions.form_id', '=', 'forms.id')
        .where(IS_NO_TEST)
        .orderBy('submissions.created_at', 'desc')
        .limit(1)
        .$asScalar()
        .as('last_submission_at'),
    ])
    .where('forms.workspace_id', '=', actor.workspaceId)

export function toFormResource({ origin }: Pick<FormNeeds, 'origin'>, form: FormRow): FormResource {
  return {
    formKey: form.form_key,
    name: form.name,
    endpoint: `${origin}/f/${form.form_key}`,
    ...readSubmissionSettings(form),
    spamRetentionDays: form.spam_retention_days ?? DEFAULT_SPAM_RETENTION_DAYS,
    retentionDays: form.retention_days,
    brand: toBrandResource(origin, form.brand),
    fieldLabels: parseOrNull(form.field_labels) ?? {},
    replyTemplates: parseOrNull(form.reply_templates) ?? [],
    submissions: Number(form.submissions),
    lastSubmissionAt: toIsoOrNull(form.last_submission_at),
    createdAt: toIso(form.created_at),
    updatedAt: toIso(form.updated_at),
  }
}

/** @throws Failure `not_found`, the same for a form of another workspace and for an unknown key */
export async function getForm(connection: Connection, actor: Actor, formKey: string): Promise<FormRow> {
  const form = isFormKey(formKey)
    ? await selectForms(connection, actor).where('forms.form_key', '=', formKey).executeTakeFirst()
    : undefined
  return form ?? throwFormNotFound()
}

/** @throws Failure `not_found`, as `getForm` does */
export const getFormId = async (connection: Connection, actor: Actor, formKey: string): Promise<number> =>
  (await findFormId(connection, actor, formKey)) ?? throwFormNotFound()

export async function findFormId(
  connection: Connection,
  actor: Actor,
  formKey: string,
): Promise<number | undefined> {
  const form = isFormKey(formKey)
    ? await connection
        .selectFrom('forms')
        .select('id')
        .where('workspace_id', '=', actor.workspaceId)
        .where('form_key', '=', formKey)
        .executeTakeFirst()
    : undefined
  return form?.id
}

/** Keeps text that is no form key out of the query: PostgreSQL refuses a NUL. */
const isFormKey = (text: string) => FORM_KEY.test(text)

function throwFormNotFound(): never {
  throw notFound('Form')
}

const ORDER = { name: 'forms createdAt desc', table: 'forms', byCreation: true, fit: fitPage }

/** @throws Failure `invalid` for a wrong cursor */
export async function listForms(
  needs: FormNeeds,
  actor: Actor,
  query: FormListQueryInput,
): Promise<Page<FormResource>> {
  const forms = needs.db.read
    .selectFrom('forms')
    .select(['id', 'created_at', FORM_BYTES])
    .where('workspace_id', '=', actor.workspaceId)
  const { rows, ...page } = await listNewest(forms, query, ORDER)
  return { data: await readForms(needs, actor, rows), ...page }
}

/** Rules and texts of a form can have a megabyte. */
const FORM_BYTES =
  sql<number>`octet_length(name) + coalesce(octet_length(rules), 0) + coalesce(octet_length(messages), 0)
  + coalesce(octet_length(spam), 0) + coalesce(octet_length(reply), 0) + coalesce(octet_length(consent), 0)`.as(
    'bytes',
  )

/** SQLite runs on the event loop, and counts the submissions of a form: one form a turn. */
async function readForms(needs: FormNeeds, actor: Actor, rows: { id: number }[]): Promise<FormResource[]> {
  const { engine, read } = needs.db
  const ids = rows.map(({ id }) => id)
  const forms = new Map<number, FormResource>()
  for (const step of engine === 'sqlite' ? ids.map((id) => [id]) : [ids]) {
    await takeTurn()
    if (step.length === 0) break
    const found = await selectForms(read, actor).where('forms.id', 'in', step).execute()
    for (const form of found) forms.set(form.id, toFormResource(needs, form))
  }
  return ids.flatMap((id) => forms.get(id) ?? [])
}
