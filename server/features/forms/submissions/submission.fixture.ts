// Inserts submissions as the endpoint stores them, for tests of everything that happens afterwards.

import type { Insertable } from 'kysely'
import { foldMarks } from '../../../lib/text.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Submissions } from '../../../storage/database/tables/form-tables.ts'

export interface TestSubmission extends Partial<Omit<Insertable<Submissions>, 'fields'>> {
  fields?: [string, string][]
}

/** A statement can have some thousand values. */
const AT_ONCE = 50

/** @returns the new ids, in the order of `submissions` */
export async function insertSubmissions(
  connection: Connection,
  form: { workspaceId: number; formId: number },
  submissions: TestSubmission[],
): Promise<number[]> {
  const rows = submissions.map(({ fields = [['message', 'Hello']], ...columns }) => ({
    workspace_id: form.workspaceId,
    form_id: form.formId,
    fields: JSON.stringify(fields),
    search_text: foldMarks(fields.map(([, value]) => value).join('\n')),
    fingerprint: 'x',
    // Every row names these columns, because a statement has the same columns for all its rows.
    status: 'new',
    attribution: 'none',
    session_linked: 0,
    attribution_due: 0,
    created_at: Date.parse('2026-03-01T12:00:00Z'),
    ...columns,
  }))
  const ids: number[] = []
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const stored = await connection
      .insertInto('submissions')
      .values(rows.slice(at, at + AT_ONCE))
      .returning('id')
      .execute()
    ids.push(...stored.map(({ id }) => id))
  }
  return ids
}
