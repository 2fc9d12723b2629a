// Inserts a form under a key that no other workspace ever had: pages and links may go on using a key for years.

import type { Insertable } from 'kysely'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Forms } from '../../../storage/database/tables/form-tables.ts'
import { FORM_KEY, newFormKey } from './form-key.ts'

// There are 31^10 keys. With a million forms, a single try fails once in 10^9.
const TRIES = 3

/**
 * @param wantedKey a key that the form had elsewhere. It gets another one where the key belongs, or has ever belonged, to
 * another workspace, and where a form has it now
 */
export async function insertForm(
  connection: Connection,
  form: Omit<Insertable<Forms>, 'form_key'>,
  wantedKey = '',
): Promise<{ id: number; form_key: string; updated_at: number }> {
  const keys = [
    ...(FORM_KEY.test(wantedKey) ? [wantedKey] : []),
    ...Array.from({ length: TRIES }, newFormKey),
  ]
  for (const form_key of keys) {
    // A new key is no workspace's own: no workspace has the id 0.
    const owner = form_key === wantedKey ? form.workspace_id : 0
    if (await belongsToAnother(connection, form_key, owner)) continue
    const row = await connection
      .insertInto('forms')
      .values({ ...form, form_key })
      .onConflict((conflict) => conflict.column('form_key').doNothing())
      .returning(['id', 'form_key', 'updated_at'])
      .executeTakeFirst()
    if (row) return row
  }
  throw new Error(`no free form key in ${TRIES} tries`)
}

async function belongsToAnother(connection: Connection, key: string, workspaceId: number): Promise<boolean> {
  const row = await connection
    .selectFrom('form_keys')
    .select('form_key')
    .where('form_key', '=', key)
    .where('workspace_id', '<>', workspaceId)
    .executeTakeFirst()
  return row !== undefined
}
