// One form of a workspace.

import { notFound } from '../../lib/failure.ts'
import type { Db } from '../../storage/rows/open.ts'
import type { Actor } from '../accounts/actor.ts'
import { type FormRow, formsOf } from './form.ts'
import { FORM_KEY } from './form-key.ts'

/** @throws Failure `not_found`, the same for another workspace's form as for none. */
export async function findForm(db: Db, actor: Actor, formKey: string): Promise<FormRow> {
  const form = isFormKey(formKey)
    ? await formsOf(db, actor).where('forms.form_key', '=', formKey).executeTakeFirst()
    : undefined
  return form ?? missingForm()
}

/** The same for those who need no more of it. @throws Failure `not_found` */
export const findFormId = async (db: Db, actor: Actor, formKey: string): Promise<number> =>
  (await findFormIdOrNone(db, actor, formKey)) ?? missingForm()

export async function findFormIdOrNone(db: Db, actor: Actor, formKey: string): Promise<number | undefined> {
  const form = isFormKey(formKey)
    ? await db
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

function missingForm(): never {
  throw notFound('Form')
}
