// The submissions of the last 30 minutes, without what their senders wrote. They are the leads of analytics: no spam, no
// repetitions, no tests.

import type { Database } from '../../storage/database/database.ts'

const ROWS = 1000

export interface LiveSubmission {
  at: number
  id: number
  formKey: string
  formName: string
  linkId: number | null
  country: string | null
}

/** Newest first. */
export async function listNewSubmissions(
  { read }: Pick<Database, 'read'>,
  workspaceId: number,
  since: number,
): Promise<LiveSubmission[]> {
  const rows = await read
    .selectFrom('submissions')
    .innerJoin('forms', 'forms.id', 'submissions.form_id')
    .select([
      'submissions.id',
      'submissions.created_at',
      'submissions.link_id',
      'submissions.country',
      'forms.form_key',
      'forms.name',
    ])
    .where('submissions.workspace_id', '=', workspaceId)
    .where('submissions.created_at', '>=', since)
    .where('submissions.announced', '=', 1)
    .where('submissions.status', '<>', 'spam')
    .where('submissions.duplicate_of', 'is', null)
    .orderBy('submissions.created_at', 'desc')
    .orderBy('submissions.id', 'desc')
    .limit(ROWS)
    .execute()
  return rows.map(({ id, created_at, form_key, name, link_id, country }) => ({
    at: created_at,
    id,
    formKey: form_key,
    formName: name,
    linkId: link_id,
    country,
  }))
}
