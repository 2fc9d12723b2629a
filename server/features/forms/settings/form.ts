// A form as a row and as an API resource.

import { type Selectable, sql } from 'kysely'
import { toIso, toIsoOrNull } from '../../../lib/iso-time.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Forms } from '../../../storage/database/tables/form-tables.ts'
import type { Action, Actor } from '../../accounts/access/actor.ts'
import { toBrandResource } from '../../accounts/brand/brand.ts'
import { ANNOUNCED } from '../leads/announced.ts'
import type { FormResource } from '../schema.ts'
import { DEFAULT_SPAM_RETENTION_DAYS } from './form-defaults.ts'
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
