// Finds one form of a workspace by its key.

import { notFound } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { type FormRow, selectForms } from './form.ts'
import { FORM_KEY } from './form-key.ts'

/** @throws Failure `not_found`, the same for a form of another workspace and for an unknown key */
export async function getForm(connection: Connection, actor: Actor, formKey: string): Promise<FormRow> {
  const form = isFormKey(formKey)
    ? await selectForms(connection, actor).where('forms.form_key', '=', formKey).executeTakeFirst()
    : undefined
  return form ?? throwFormNotFound()
}

/** @throws Failure `not_found`, as `getForm` does */
export const getFormId = async (connection: Connection, actor: Actor, formKey: string): Promise<number> =>
  (await findFormId(connection, actor, formKey)) ?? throwFormNotFound()

export async function findFormId(
  connection: Connection,
  actor: Actor,
  formKey: string,
): Promise<number | undefined> {
  const form = isFormKey(formKey)
    ? await connection
        .selectFrom('forms')
        .select('id')
        .where('workspace_id', '=', actor.workspaceId)
        .where('form_key', '=', formKey)
        .executeTakeFirst()
    : undefined
  return form?.id
}

/** Keeps text that is no form key out of the query: PostgreSQL refuses a NUL. */
const isFormKey = (text: string) => FORM_KEY.test(text)

function throwFormNotFound(): never {
  throw notFound('Form')
}
