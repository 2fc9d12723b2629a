// Creates, changes and deletes forms. In a change an absent field stays, and null sets the value of a new form.

import type { Updateable } from 'kysely'
import { invalid } from '../../../lib/failure.ts'
import { BLOCKED_URL } from '../../../lib/web-url.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Forms } from '../../../storage/database/tables/form-tables.ts'
import { type Actor, allow, requireScopes } from '../../accounts/access/actor.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { deleteUnusedLogos, storeBrand } from '../../accounts/brand/store-brand.ts'
import { channelsExist, listChannelsOfNewForms } from '../../notify/channels/use-for-forms.ts'
import { requireValidRules } from '../rules/check-rules.ts'
import type { CreateFormInput, FormResource, UpdateFormInput } from '../schema.ts'
import { FORMS_WRITE, type FormNeeds, type FormRow, toFormResource } from './form.ts'
import { DEFAULT_RETURN_MODE, DEFAULT_SPAM_RETENTION_DAYS } from './form-defaults.ts'
import { getForm } from './get-form.ts'
import { insertForm } from './insert-form.ts'

/** @throws Failure `invalid`, `conflict` */
export async function createForm(
  needs: FormNeeds,
  actor: Actor,
  input: CreateFormInput,
): Promise<FormResource> {
  await judgeInput(needs, actor, input)
  const columns = { ...toFormColumns(input), name: input.name }
  return needs.db.write(async (connection) => {
    await requireChannels(connection, actor, input)
    const channelIds = input.channelIds ?? (await listChannelsOfNewForms(connection, actor))
    const at = needs.now()
    const { workspaceId } = actor
    const brand = await storeBrand(connection, { workspaceId, before: null, input: input.brand, at })
    const form = {
      ...columns,
      brand: brand ?? null,
      channel_ids: JSON.stringify(channelIds),
      workspace_id: workspaceId,
      created_at: at,
      updated_at: at,
    }
    const inserted = await insertForm(connection, form)
    await requireRoom(connection, workspaceId, 'forms')
    return toFormResource(needs, await getForm(connection, actor, inserted.form_key))
  })
}

/** @throws Failure `not_found`, `invalid`; `forbidden` for a key that may not delete submissions, where this deletes some */
export async function updateForm(
  needs: FormNeeds,
  actor: Actor,
  formKey: string,
  input: UpdateFormInput,
): Promise<FormResource> {
  await judgeInput(needs, actor, input)
  const columns = toFormColumns(input)
  return needs.db.write(async (connection) => {
    const form = await getForm(connection, actor, formKey)
    const { workspaceId } = actor
    const stored = { workspaceId, before: form.brand, input: input.brand, at: needs.now() }
    const brand = await storeBrand(connection, stored)
    const changes = { ...columns, ...(brand !== undefined && { brand }) }
    if (Object.keys(changes).length === 0) return toFormResource(needs, form)
    if (isShorter(form, { ...form, ...changes })) requireScopes(actor, 'submissions:write')
    await requireChannels(connection, actor, input)
    // Sets only the named columns, so that two changes at once do not undo each other.
    await connection
      .updateTable('forms')
      .set((e) => ({ ...changes, revision: e('revision', '+', 1), updated_at: needs.now() }))
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', form.id)
      .execute()
    if (brand !== undefined) await deleteUnusedLogos(connection, workspaceId)
    return toFormResource(needs, await getForm(connection, actor, formKey))
  })
}

/** @returns the form as it was. @throws Failure `not_found` */
export function deleteForm(needs: FormNeeds, actor: Actor, formKey: string): Promise<FormResource> {
  allow(actor, FORMS_WRITE)
  return needs.db.write(async (connection) => {
    const form = await getForm(connection, actor, formKey)
    // ON DELETE CASCADE deletes its submissions, also one that is stored at this moment.
    await connection
      .deleteFrom('forms')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', form.id)
      .execute()
    const deleted = toFormResource(needs, form)
    const target = { type: 'form', id: formKey, name: deleted.name } as const
    const detail = { submissions: deleted.submissions }
    await recordAudit(connection, actor, { action: 'form.deleted', target, detail }, needs.now())
    return deleted
  })
}

/** Judges the settings before the transaction: some patterns take milliseconds to compile. @throws Failure `invalid` */
async function judgeInput(needs: FormNeeds, actor: Actor, input: UpdateFormInput): Promise<void> {
  allow(actor, FORMS_WRITE)
  refuseBlockedTargets(needs, input)
  refuseUnavailable(needs, input)
  await requireValidRules(input.rules)
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
function refuseUnavailable({ canMail, canStoreFiles }: FormNeeds, { reply, uploads }: UpdateFormInput): void {
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
async function requireChannels(
  connection: Connection,
  actor: Actor,
  { channelIds }: UpdateFormInput,
): Promise<void> {
  if (await channelsExist(connection, actor, channelIds ?? [])) return
  throw invalid({ channelIds: 'must be ids of channels of this workspace' })
}

type Retention = Pick<FormRow, 'retention_days' | 'spam_retention_days'>

/** True where a job deletes submissions earlier than before. */
function isShorter(before: Retention, after: Retention): boolean {
  const toDays = ({ retention_days: all, spam_retention_days: spam }: Retention) =>
    [all ?? Number.POSITIVE_INFINITY, spam ?? DEFAULT_SPAM_RETENTION_DAYS] as const
  const [all, spam] = toDays(before)
  const [allAfter, spamAfter] = toDays(after)
  return allAfter < all || spamAfter < spam
}
