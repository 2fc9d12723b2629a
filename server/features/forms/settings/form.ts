// A form as a row and as an API resource, and how its settings become columns.

import { type Selectable, sql, type Updateable } from 'kysely'
import { invalid } from '../../../lib/failure.ts'
import { toIso, toIsoOrNull } from '../../../lib/iso-time.ts'
import { BLOCKED_URL } from '../../../lib/web-url.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Forms } from '../../../storage/database/tables/form-tables.ts'
import type { Action, Actor } from '../../accounts/access/actor.ts'
import { toBrandResource } from '../../accounts/brand/brand.ts'
import { channelsExist } from '../../notify/channels/channels-exist.ts'
import { ANNOUNCED } from '../leads/announced.ts'
import type { FormResource, UpdateFormInput } from '../schema.ts'
import { DEFAULT_RETURN_MODE, DEFAULT_SPAM_RETENTION_DAYS } from './form-defaults.ts'
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

/** The columns that an input names. `null` in the input sets the value of a new form. */
export function toFormColumns(input: UpdateFormInput): Updateable<Forms> {
  const columns: Updateable<Forms> = {
    name: input.name,
    enabled: input.enabled === undefined ? undefined : Number(input.enabled ?? true),
    required_fields: toListColumn(input.requiredFields),
    redirect_url: input.redirectUrl,
    page_url: input.pageUrl,
    after_submit: input.afterSubmit === null ? DEFAULT_RETURN_MODE : input.afterSubmit,
    on_error: input.onError === null ? DEFAULT_RETURN_MODE : input.onError,
    captcha: input.captcha === undefined ? undefined : Number(input.captcha ?? false),
    success_message: input.successMessage,
    allowed_origins: toListColumn(input.allowedOrigins),
    per_address: input.perAddress,
    next_hosts: toListColumn(input.nextHosts),
    channel_ids: toListColumn(input.channelIds),
    uploads: toJsonColumn(input.uploads),
    reply: toJsonColumn(input.reply),
    spam: toJsonColumn(input.spam),
    spam_retention_days: input.spamRetentionDays,
    rules: toJsonColumn(input.rules),
    messages: toJsonColumn(input.messages),
    retention_days: input.retentionDays,
    consent: toJsonColumn(input.consent),
    ad_click_ids: input.adClickIds === undefined ? undefined : Number(input.adClickIds ?? false),
    field_labels: toJsonColumn(input.fieldLabels),
    reply_templates: toJsonColumn(input.replyTemplates),
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

const toJsonColumn = (value: object | null | undefined) => (value ? JSON.stringify(value) : value)

/** @throws Failure `invalid` */
export function refuseBlockedTargets(
  { isBlocked }: Pick<FormNeeds, 'isBlocked'>,
  input: UpdateFormInput,
): void {
  const blocked = (['redirectUrl', 'pageUrl'] as const).filter((name) => {
    const url = input[name]
    return url && isBlocked(new URL(url))
  })
  if (blocked.length > 0) throw invalid(Object.fromEntries(blocked.map((name) => [name, BLOCKED_URL])))
}

/** @throws Failure `invalid` */
export function refuseUnavailable(
  { canMail, canStoreFiles }: FormNeeds,
  { reply, uploads }: UpdateFormInput,
): void {
  const missing = {
    ...(reply && !canMail && { reply: NO_MAIL }),
    ...(uploads && !canStoreFiles() && { uploads: NO_SHARED_STORE }),
  }
  if (Object.keys(missing).length > 0) throw invalid(missing)
}

const NO_MAIL =
  'needs a mail server, and this server has none. Its operator can set one up with SMTP_URL and MAIL_FROM, and start the server again'
const NO_SHARED_STORE =
  'needs a bucket, because several servers share this database but not their directories. The operator can set one with UPLOADS_S3_URL, and restart the servers'

/** Removes repeated entries. The schema has already normalized origins and hosts, so two spellings are equal here. */
const toListColumn = (list: (string | number)[] | null | undefined) =>
  list === undefined ? undefined : JSON.stringify([...new Set(list ?? [])])

/** @throws Failure `invalid`, with the same message for a channel of another workspace and for an unknown one */
export async function requireChannels(
  connection: Connection,
  actor: Actor,
  { channelIds }: UpdateFormInput,
): Promise<void> {
  if (await channelsExist(connection, actor, channelIds ?? [])) return
  throw invalid({ channelIds: 'must be ids of channels of this workspace' })
}
