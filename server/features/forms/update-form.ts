// Changing a form: absent fields stay, null goes back to the beginning, an empty change is no change.

import { type Actor, allow } from '../accounts/actor.ts'
import { findForm } from './find-form.ts'
import { FORMS_WRITE, type FormNeeds, formColumns, formResource, requireChannels } from './form.ts'
import type { FormResource, UpdateFormInput } from './schema.ts'

/** @throws Failure `not_found`, `invalid` */
export function updateForm(
  needs: FormNeeds,
  actor: Actor,
  formKey: string,
  input: UpdateFormInput,
): Promise<FormResource> {
  allow(actor, FORMS_WRITE)
  const changes = formColumns(input)
  return needs.rows.write(async (db) => {
    const form = await findForm(db, actor, formKey)
    if (Object.keys(changes).length === 0) return formResource(needs, form)
    await requireChannels(db, actor, input)
    // Only what was named, so that of two changes at once none undoes the other's fields.
    await db
      .updateTable('forms')
      .set({ ...changes, updated_at: needs.now() })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', form.id)
      .execute()
    return formResource(needs, await findForm(db, actor, formKey))
  })
}
