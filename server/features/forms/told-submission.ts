// A submission as notifications tell of it: what the API would answer, and the words for people around it.

import { orderedJson } from '../../lib/ordered-json.ts'
import type { Db } from '../../storage/rows/open.ts'
import { attributionLine } from '../notify/attribution-line.ts'
import type { ReadSubmission } from '../notify/content.ts'
import {
  fieldsOf,
  readSettled,
  type SubmissionNeeds,
  submissionResource,
  submissionRows,
} from './submission.ts'

/** @returns a way to read one with all decided that can be within two seconds */
export function tellSubmissions(needs: SubmissionNeeds & { origin: string }): ReadSubmission {
  const { rows, origin } = needs
  return async (workspaceId, submissionId) => {
    const asked = () =>
      submissionRows(rows.read, { workspaceId })
        .select('forms.name as form_name')
        .where('submissions.id', '=', submissionId)
        .execute()
    const [row] = await readSettled(needs, { workspaceId }, asked)
    if (!row) return undefined
    const { form_name, ...submission } = row as typeof row & { form_name: string }
    const resource = submissionResource(submission)
    const shortUrl = await shortUrlOf(rows.read, workspaceId, origin, row.link_id)
    return {
      form: { formKey: row.form_key, name: form_name },
      submissionId,
      createdAt: row.created_at,
      fields: fieldsOf(row),
      email: row.email,
      attribution: attributionLine({ ...resource, shortUrl }),
      url: `${origin}/app/submissions/${submissionId}`,
      submissionJson: orderedJson(resource),
    }
  }
}

async function shortUrlOf(db: Db, workspaceId: number, origin: string, linkId: number | null) {
  if (linkId === null) return null
  const link = await db
    .selectFrom('links')
    .select(['slug', 'domain'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', linkId)
    .executeTakeFirst()
  if (!link) return null
  return `${link.domain === '' ? origin : `https://${link.domain}`}/${encodeURIComponent(link.slug)}`
}
