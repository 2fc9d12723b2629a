// Creates a form. The database decides whether the new key is free.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { requireValidRules } from '../rules/check-rules.ts'
import type { CreateFormInput, FormResource } from '../schema.ts'
import {
  FORMS_WRITE,
  type FormNeeds,
  refuseBlockedTargets,
  refuseUnavailable,
  requireChannels,
  toFormColumns,
  toFormResource,
} from './form.ts'
import { newFormKey } from './form-key.ts'
import { getForm } from './get-form.ts'

// There are 31^10 keys. With a million forms, a single try fails once in 10^9.
const TRIES = 3

/** @throws Failure `invalid`, `conflict` */
export async function createForm(
  needs: FormNeeds,
  actor: Actor,
  input: CreateFormInput,
): Promise<FormResource> {
  allow(actor, FORMS_WRITE)
  refuseBlockedTargets(needs, input)
  refuseUnavailable(needs, input)
  await requireValidRules(input.rules)
  const columns = { ...toFormColumns(input), name: input.name }
  return needs.db.write(async (connection) => {
    await requireChannels(connection, actor, input)
    const at = needs.now()
    for (let tries = TRIES; tries > 0; tries--) {
      const inserted = await connection
        .insertInto('forms')
        .values({
          ...columns,
          workspace_id: actor.workspaceId,
          form_key: newFormKey(),
          created_at: at,
          updated_at: at,
        })
        .onConflict((conflict) => conflict.column('form_key').doNothing())
        .returning('form_key')
        .executeTakeFirst()
      if (!inserted) continue
      await requireRoom(connection, actor.workspaceId, 'forms')
      return toFormResource(needs, await getForm(connection, actor, inserted.form_key))
    }
    throw new Error(`no free form key in ${TRIES} tries`)
  })
}
