// Reads what a notification says about a submission: the API resource, and texts for people.

import { createBatchLoader } from '../../../lib/concurrency/batch-loader.ts'
import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import { formatAttributionLine } from '../../notify/channels/attribution-line.ts'
import type { NoticeContent, SubmissionContentReader } from '../../notify/delivery/notice-content.ts'
import { findLinkNames } from './link-names.ts'
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
 * The reader waits at most two seconds for attribution. It reads submissions that are wanted at the same moment in one
 * query, because a submission has a delivery for each channel and submissions often come together.
 */
export function createNotificationContentReader(
  needs: SubmissionNeeds & { origin: string },
): SubmissionContentReader {
  const { db } = needs
  /** One open batch loader per workspace. */
  const loaders = new Map<number, (submissionId: number) => Promise<ContentReader | undefined>>()

  const createLoader = (workspaceId: number) =>
    createBatchLoader(async (ids: number[]) => {
      loaders.delete(workspaceId)
      const readRows = () =>
        selectSubmissions(db.read, { workspaceId })
          .select('forms.name as form_name')
          .where('submissions.id', 'in', ids)
          .execute()
      const rows = (await readWithAttribution(needs, { workspaceId }, readRows)) as NamedRow[]
      return new Map(rows.map((row) => [row.id, once(() => readContent(needs, workspaceId, row))]))
    })

  return async (workspaceId, submissionId) => {
    const load = loaders.get(workspaceId) ?? createLoader(workspaceId)
    loaders.set(workspaceId, load)
    return (await load(submissionId))?.()
  }
}

type ContentReader = () => Promise<NoticeContent>

/** Reads the content once for all channels of a submission. An error of one submission does not affect the others. */
function once(read: ContentReader): ContentReader {
  let content: Promise<NoticeContent> | undefined
  return () => {
    content ??= read()
    return content
  }
}

async function readContent(
  { db, origin }: SubmissionNeeds & { origin: string },
  workspaceId: number,
  { form_name, ...row }: NamedRow,
): Promise<NoticeContent> {
  const resource = toSubmissionResource(row)
  const linkIds = row.link_id === null ? [] : [row.link_id]
  const links = await findLinkNames(db.read, { workspaceId, origin }, linkIds)
  return {
    form: { formKey: row.form_key, name: form_name },
    submissionId: row.id,
    createdAt: row.created_at,
    fields: parseStoredFields(row),
    email: row.email,
    attribution: formatAttributionLine({
      ...resource,
      shortUrl: (row.link_id === null ? undefined : links.get(row.link_id)?.shortUrl) ?? null,
      isPending: resource.attribution === 'pending',
    }),
    url: `${origin}/app/${workspaceId}/inbox?open=${row.id}`,
    submissionJson: orderedJson(resource),
  }
}
