// Reads the labels of the fields of forms, for texts that the team reads.

import type { Connection } from '../../../storage/database/open-database.ts'

/** @returns the labels of each form that has some, by the form's key */
export async function readFieldLabels(
  connection: Connection,
  workspaceId: number,
  formKeys: readonly string[],
): Promise<Map<string, ReadonlyMap<string, string>>> {
  if (formKeys.length === 0) return new Map()
  const rows = await connection
    .selectFrom('forms')
    .select(['form_key', 'field_labels'])
    .where('workspace_id', '=', workspaceId)
    .where('form_key', 'in', formKeys)
    .where('field_labels', 'is not', null)
    .execute()
  return new Map(
    rows.map(({ form_key, field_labels }) => [
      form_key,
      new Map<string, string>(Object.entries(JSON.parse(field_labels ?? '{}'))),
    ]),
  )
}
