// Deletes a form with all its submissions. From then on its key is unknown.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import type { FormResource } from '../schema.ts'
import { FORMS_WRITE, type FormNeeds, toFormResource } from './form.ts'
import { getForm } from './get-form.ts'

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
