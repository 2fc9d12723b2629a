// Deleting a form: its key is unknown at once, and every submission of it is gone.

import { type Actor, allow } from '../accounts/actor.ts'
import { findForm } from './find-form.ts'
import { FORMS_WRITE, type FormNeeds, formResource } from './form.ts'
import type { FormResource } from './schema.ts'

/** @returns the form as it was. @throws Failure `not_found` */
export function deleteForm(needs: FormNeeds, actor: Actor, formKey: string): Promise<FormResource> {
  allow(actor, FORMS_WRITE)
  return needs.rows.write(async (db) => {
    const form = await findForm(db, actor, formKey)
    // Its submissions go with it (ON DELETE CASCADE), one that is being stored at this moment too.
    await db
      .deleteFrom('forms')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', form.id)
      .execute()
    return formResource(needs, form)
  })
}
