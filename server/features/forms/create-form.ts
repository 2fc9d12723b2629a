// Making a form: the database decides whether its key is free.

import { type Actor, allow } from '../accounts/actor.ts'
import { findForm } from './find-form.ts'
import { FORMS_WRITE, type FormNeeds, formColumns, formResource, requireChannels } from './form.ts'
import { newFormKey } from './form-key.ts'
import type { CreateFormInput, FormResource } from './schema.ts'

// 31^10 keys: with a million forms, even one try in a row fails once in 10^9.
const TRIES = 3

/** @throws Failure `invalid` */
export function createForm(needs: FormNeeds, actor: Actor, input: CreateFormInput): Promise<FormResource> {
  allow(actor, FORMS_WRITE)
  const columns = { ...formColumns(input), name: input.name }
  return needs.rows.write(async (db) => {
    await requireChannels(db, actor, input)
    const at = needs.now()
    for (let tries = TRIES; tries > 0; tries--) {
      const made = await db
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
      if (made) return formResource(needs, await findForm(db, actor, made.form_key))
    }
    throw new Error(`no free form key in ${TRIES} tries`)
  })
}
