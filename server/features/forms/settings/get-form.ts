// One form of a workspace.

import { notFound } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { type FormRow, selectForms } from './form.ts'
import { FORM_KEY } from './form-key.ts'

/** @throws Failure `not_found`, the same for another workspace's form as for none. */
export async function getForm(connection: Connection, actor: Actor, formKey: string): Promise<FormRow> {
  const form = isFormKey(formKey)
    ? await selectForms(connection, actor).where('forms.form_key', '=', formKey).executeTakeFirst()
    : undefined
  return form ?? throwFormNotFound()
}

/** The same for those who need no more of it. @throws Failure `not_found` */
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

/** Text that no form is named by is not even asked for: PostgreSQL would choke on a NUL. */
const isFormKey = (text: string) => FORM_KEY.test(text)

function throwFormNotFound(): never {
  throw notFound('Form')
}
