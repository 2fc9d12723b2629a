// Changing a form: absent fields stay, null goes back to the beginning, an empty change is no change.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { FormResource, UpdateFormInput } from '../schema.ts'
import { FORMS_WRITE, type FormNeeds, requireChannels, toFormColumns, toFormResource } from './form.ts'
import { getForm } from './get-form.ts'

/** @throws Failure `not_found`, `invalid` */
export function updateForm(
  needs: FormNeeds,
  actor: Actor,
  formKey: string,
  input: UpdateFormInput,
): Promise<FormResource> {
  allow(actor, FORMS_WRITE)
  const changes = toFormColumns(input)
  return needs.db.write(async (connection) => {
    const form = await getForm(connection, actor, formKey)
    if (Object.keys(changes).length === 0) return toFormResource(needs, form)
    await requireChannels(connection, actor, input)
    // Only what was named, so that of two changes at once none undoes the other's fields.
    await connection
      .updateTable('forms')
      .set({ ...changes, updated_at: needs.now() })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', form.id)
      .execute()
    return toFormResource(needs, await getForm(connection, actor, formKey))
  })
}
