// Changes a form. An absent field stays, null sets the value of a new form, and an empty change changes nothing.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { requireValidRules } from '../rules/check-rules.ts'
import type { FormResource, UpdateFormInput } from '../schema.ts'
import {
  FORMS_WRITE,
  type FormNeeds,
  refuseBlockedTargets,
  refuseUnavailable,
  requireChannels,
  toFormColumns,
  toFormResource,
} from './form.ts'
import { getForm } from './get-form.ts'

/** @throws Failure `not_found`, `invalid` */
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
  const changes = toFormColumns(input)
  return needs.db.write(async (connection) => {
    const form = await getForm(connection, actor, formKey)
    if (Object.keys(changes).length === 0) return toFormResource(needs, form)
    await requireChannels(connection, actor, input)
    // Sets only the named columns, so that two changes at once do not undo each other.
    await connection
      .updateTable('forms')
      .set({ ...changes, updated_at: needs.now() })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', form.id)
      .execute()
    return toFormResource(needs, await getForm(connection, actor, formKey))
  })
}
