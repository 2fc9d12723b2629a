// Changes a form. An absent field stays, null sets the value of a new form, and an empty change changes nothing.

import { type Actor, allow, requireScopes } from '../../accounts/access/actor.ts'
import { deleteUnusedLogos, storeBrand } from '../../accounts/brand/store-brand.ts'
import { requireValidRules } from '../rules/check-rules.ts'
import type { FormResource, UpdateFormInput } from '../schema.ts'
import {
  FORMS_WRITE,
  type FormNeeds,
  type FormRow,
  refuseBlockedTargets,
  refuseUnavailable,
  requireChannels,
  toFormColumns,
  toFormResource,
} from './form.ts'
import { DEFAULT_SPAM_RETENTION_DAYS } from './form-defaults.ts'
import { getForm } from './get-form.ts'

/** @throws Failure `not_found`, `invalid`; `forbidden` for a key that may not delete submissions, where this deletes some */
export async function updateForm(
  needs: FormNeeds,
  actor: Actor,
  formKey: string,
  input: UpdateFormInput,
): Promise<FormResource> {
  allow(actor, FORMS_WRITE)
  refuseBlockedTargets(needs, input)
  refuseUnavailable(needs, input)
  await requireValidRules(input.rules)
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

type Retention = Pick<FormRow, 'retention_days' | 'spam_retention_days'>

/** True where a job deletes submissions earlier than before. */
function isShorter(before: Retention, after: Retention): boolean {
  const toDays = ({ retention_days: all, spam_retention_days: spam }: Retention) =>
    [all ?? Number.POSITIVE_INFINITY, spam ?? DEFAULT_SPAM_RETENTION_DAYS] as const
  const [all, spam] = toDays(before)
  const [allAfter, spamAfter] = toDays(after)
  return allAfter < all || spamAfter < spam
}
