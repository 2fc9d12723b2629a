// A submission as notifications tell of it: what the API would answer, and the words for people around it.

import { createBatchLoader } from '../../../lib/batch-loader.ts'
import { orderedJson } from '../../../lib/ordered-json.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { formatAttributionLine } from '../../notify/channels/attribution-line.ts'
import type { NoticeContent, SubmissionContentReader } from '../../notify/delivery/notice-content.ts'
import {
  parseStoredFields,
  readWithAttribution,
  type SubmissionNeeds,
  type SubmissionRow,
  selectSubmissions,
  toSubmissionResource,
} from './submission.ts'

type NamedRow = SubmissionRow & { form_name: string }

/**
 * @returns a way to read one with all decided that can be within two seconds. Those that are asked for in the same
 * moment are read together: a submission has a delivery for each channel, and seldom comes alone.
 */
export function createNotificationContentReader(
  needs: SubmissionNeeds & { origin: string },
): SubmissionContentReader {
  const { db } = needs
  /** Of those in whose name something is asked at this moment. */
  const workspaces = new Map<number, (submissionId: number) => Promise<ContentReader | undefined>>()

  const reader = (workspaceId: number) =>
    createBatchLoader(async (ids: number[]) => {
      workspaces.delete(workspaceId)
      const asked = () =>
        selectSubmissions(db.read, { workspaceId })
          .select('forms.name as form_name')
          .where('submissions.id', 'in', ids)
          .execute()
      const found = (await readWithAttribution(needs, { workspaceId }, asked)) as NamedRow[]
      return new Map(found.map((row) => [row.id, once(() => readContent(needs, workspaceId, row))]))
    })

  return async (workspaceId, submissionId) => {
    const read = workspaces.get(workspaceId) ?? reader(workspaceId)
    workspaces.set(workspaceId, read)
    return (await read(submissionId))?.()
  }
}

type ContentReader = () => Promise<NoticeContent>

/** What breaks one breaks no other, and for one it is made once. */
function once(make: ContentReader): ContentReader {
  let made: Promise<NoticeContent> | undefined
  return () => {
    made ??= make()
    return made
  }
}

async function readContent(
  { db, origin }: SubmissionNeeds & { origin: string },
  workspaceId: number,
  { form_name, ...row }: NamedRow,
): Promise<NoticeContent> {
  const resource = toSubmissionResource(row)
  const shortUrl = await findShortUrl(db.read, workspaceId, origin, row.link_id)
  return {
    form: { formKey: row.form_key, name: form_name },
    submissionId: row.id,
    createdAt: row.created_at,
    fields: parseStoredFields(row),
    email: row.email,
    attribution: formatAttributionLine({
      ...resource,
      shortUrl,
      isPending: resource.attribution === 'pending',
    }),
    url: `${origin}/app/${workspaceId}/inbox?open=${row.id}`,
    submissionJson: orderedJson(resource),
  }
}

async function findShortUrl(
  connection: Connection,
  workspaceId: number,
  origin: string,
  linkId: number | null,
) {
  if (linkId === null) return null
  const link = await connection
    .selectFrom('links')
    .select(['slug', 'domain'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', linkId)
    .executeTakeFirst()
  if (!link) return null
  return `${link.domain === '' ? origin : `https://${link.domain}`}/${encodeURIComponent(link.slug)}`
}
