// A submission as notifications tell of it: what the API would answer, and the words for people around it.

import { gathered } from '../../lib/gathered.ts'
import { orderedJson } from '../../lib/ordered-json.ts'
import type { Db } from '../../storage/rows/open.ts'
import { attributionLine } from '../notify/attribution-line.ts'
import type { Content, ReadSubmission } from '../notify/content.ts'
import {
  fieldsOf,
  readSettled,
  type SubmissionNeeds,
  type SubmissionRow,
  submissionResource,
  submissionRows,
} from './submission.ts'

type NamedRow = SubmissionRow & { form_name: string }

/**
 * @returns a way to read one with all decided that can be within two seconds. Those that are asked for in the same
 * moment are read together: a submission has a delivery for each channel, and seldom comes alone.
 */
export function tellSubmissions(needs: SubmissionNeeds & { origin: string }): ReadSubmission {
  const { rows } = needs
  /** Of those in whose name something is asked at this moment. */
  const workspaces = new Map<number, (submissionId: number) => Promise<Told | undefined>>()

  const reader = (workspaceId: number) =>
    gathered(async (ids: number[]) => {
      workspaces.delete(workspaceId)
      const asked = () =>
        submissionRows(rows.read, { workspaceId })
          .select('forms.name as form_name')
          .where('submissions.id', 'in', ids)
          .execute()
      const found = (await readSettled(needs, { workspaceId }, asked)) as NamedRow[]
      return new Map(found.map((row) => [row.id, once(() => tell(needs, workspaceId, row))]))
    })

  return async (workspaceId, submissionId) => {
    const read = workspaces.get(workspaceId) ?? reader(workspaceId)
    workspaces.set(workspaceId, read)
    return (await read(submissionId))?.()
  }
}

type Told = () => Promise<Content>

/** What breaks one breaks no other, and for one it is made once. */
function once(make: Told): Told {
  let made: Promise<Content> | undefined
  return () => {
    made ??= make()
    return made
  }
}

async function tell(
  { rows, origin }: SubmissionNeeds & { origin: string },
  workspaceId: number,
  { form_name, ...row }: NamedRow,
): Promise<Content> {
  const resource = submissionResource(row)
  const shortUrl = await shortUrlOf(rows.read, workspaceId, origin, row.link_id)
  return {
    form: { formKey: row.form_key, name: form_name },
    submissionId: row.id,
    createdAt: row.created_at,
    fields: fieldsOf(row),
    email: row.email,
    attribution: attributionLine({ ...resource, shortUrl }),
    url: `${origin}/app/${workspaceId}/inbox?open=${row.id}`,
    submissionJson: orderedJson(resource),
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
