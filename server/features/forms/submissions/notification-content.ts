// Reads what a notification says about a submission: the API resource, and texts for people.

import { createBatchLoader } from '../../../lib/concurrency/batch-loader.ts'

import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import type { Database } from '../../../storage/database/open-database.ts'

import { formatAttributionLine } from '../../notify/channels/attribution-line.ts'
import type { NoticeContent, SubmissionContentReader } from '../../notify/delivery/notice-content.ts'
import { findLinkNames } from './link-names.ts'
import { POSITION_COLUMNS, readSubmissions } from './scan-submissions.ts'
import {
  parseStoredFields,
  readWithAttribution,
  type SubmissionNeeds,
  type SubmissionRow,
  selectSubmissionsById,
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
      const readRows = async () => {
        const sizes = await selectSubmissionsById(db, { workspaceId }, ids).select(POSITION_COLUMNS).execute()
        return readSubmissions({ needs, actor: { workspaceId } }, sizes)
      }
      const rows = await readWithAttribution(needs, { workspaceId }, readRows)
      const names = await listFormNames(db, workspaceId, rows)
      return new Map(
        rows.map((row) => {
          const formName = names.get(row.form_key) ?? ''
          return [row.id, once(() => readContent(needs, workspaceId, { ...row, form_name: formName }))]
        }),
      )
    })

  return async (workspaceId, submissionId) => {
    const load = loaders.get(workspaceId) ?? createLoader(workspaceId)
    loaders.set(workspaceId, load)
    return (await load(submissionId))?.()
  }
}

async function listFormNames(
  { read }: Pick<Database, 'read'>,
  workspaceId: number,
  rows: SubmissionRow[],
): Promise<Map<string, string>> {
  if (rows.length === 0) return new Map()
  const forms = await read
    .selectFrom('forms')
    .select(['form_key', 'name'])
    .where('workspace_id', '=', workspaceId)
    .where('form_key', 'in', [...new Set(rows.map((row) => row.form_key))])
    .execute()
  return new Map(forms.map(({ form_key, name }) => [form_key, name]))
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
