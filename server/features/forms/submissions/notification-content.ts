// Reads the content of a notification about a submission: the API resource, and texts for people.

import { sql } from 'kysely'
import { createBatcher } from '../../../lib/concurrency/batcher.ts'
import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareQuery } from '../../../storage/database/prepare-query.ts'
import type { NoticeContent, SubmissionContentReader } from '../../notify/channels/contract.ts'
import { toSenderName } from '../../notify/channels/sender-name.ts'
import { formatAttributionLine } from '../../notify/content/attribution-line.ts'
import { toLeadFacts } from '../../notify/events/channel-filter.ts'
import { type EventLink, readEventLinks } from '../../notify/events/read-links.ts'
import { listStoredFiles } from '../uploads/find-file.ts'
import { readTouches } from './attribution-report.ts'
import { readSubmissions, selectListedPositions } from './scan-submissions.ts'
import type { TouchResource } from './schema.ts'
import {
  parseStoredFields,
  readWithAttribution,
  type SubmissionNeeds,
  type SubmissionRow,
  toSubmissionResource,
} from './submission.ts'

export interface NotificationContentNeeds extends SubmissionNeeds {
  /** The link to a file for the readers of the notification. */
  toFileUrl: (key: string) => string
}

/**
 * The reader waits at most two seconds for attribution. It reads submissions that are wanted at the same moment in one
 * query, because a submission has a delivery for each channel and submissions often come together.
 */
export function createNotificationContentReader(needs: NotificationContentNeeds): SubmissionContentReader {
  const { db } = needs
  const readAll = createBatcher(
    async (wanted: WantedSubmission[]) => {
      const { workspaceId } = wanted[0] as WantedSubmission
      const ids = [...new Set(wanted.map(({ id }) => id))]
      const sizes = await selectListedPositions(db.read, { workspaceId, ids })
      const readRows = () => readSubmissions({ needs, actor: { workspaceId } }, sizes)
      const isDecided = sizes.every(({ attribution_due }) => attribution_due === 0)
      const rows = isDecided ? await readRows() : await readWithAttribution(needs, { workspaceId }, readRows)
      const linkIds = [...new Set(rows.flatMap((row) => row.link_id ?? []))]
      const links = await readEventLinks(db.read, { workspaceId, origin: needs.origin }, linkIds)
      const touches = await readTouches(needs, { workspaceId }, rows)
      const labels = await readFieldLabels(db.read, workspaceId, [
        ...new Set(rows.map((row) => row.form_key)),
      ])
      const toReader = (row: SubmissionRow) => {
        const link = row.link_id === null ? undefined : links.get(row.link_id)
        return once(async () =>
          toContent(needs, workspaceId, row, {
            link,
            touches: touches.get(row.id) ?? [],
            labels: labels.get(row.form_key),
          }),
        )
      }
      const readers = new Map(rows.map((row) => [row.id, toReader(row)]))
      return wanted.map(({ id }) => readers.get(id))
    },
    { toKey: ({ workspaceId }) => workspaceId, overlaps: true },
  )

  return async (workspaceId, id) => (await readAll({ workspaceId, id }))?.()
}

interface WantedSubmission {
  workspaceId: number
  id: number
}

const selectFieldLabels = prepareQuery(
  (connection, { workspaceId, formKeys }: { workspaceId: number; formKeys: readonly string[] }) =>
    connection
      .selectFrom('forms')
      .select(['form_key', 'field_labels'])
      .where('workspace_id', '=', workspaceId)
      .where(isOneOf(connection, 'form_key', formKeys))
      .where('field_labels', 'is not', null),
)

/** @returns the labels of each form that has some, by the form's key */
async function readFieldLabels(
  connection: Connection,
  workspaceId: number,
  formKeys: readonly string[],
): Promise<Map<string, ReadonlyMap<string, string>>> {
  if (formKeys.length === 0) return new Map()
  const rows = await selectFieldLabels(connection, { workspaceId, formKeys })
  return new Map(
    rows.map(({ form_key, field_labels }) => [
      form_key,
      new Map<string, string>(Object.entries(JSON.parse(field_labels ?? '{}'))),
    ]),
  )
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

async function toContent(
  { db, origin, toFileUrl }: NotificationContentNeeds,
  workspaceId: number,
  row: SubmissionRow,
  {
    link,
    touches,
    labels,
  }: {
    link: EventLink | undefined
    touches: TouchResource[]
    labels: ReadonlyMap<string, string> | undefined
  },
): Promise<NoticeContent> {
  const fields = parseStoredFields(row)
  const resource = toSubmissionResource({ origin }, row)
  const held = describeHeldTime(row)
  const attribution = formatAttributionLine({
    ...resource,
    shortUrl: resource.link?.shortUrl ?? null,
    isPending: resource.attribution === 'pending',
  })
  const stored = row.files.length > 0 ? await listStoredFiles(db.read, workspaceId, row.id) : []
  const keys = new Map(stored.map(({ id, key }) => [id, key]))
  const files = row.files.flatMap((file) => {
    const key = keys.get(file.id)
    return key === undefined ? [] : [{ ...file, key, url: toFileUrl(key) }]
  })
  const shownFiles = files.map(({ key: _, ...file }) => file)
  return {
    form: { formKey: row.form_key, name: row.form_name },
    submissionId: row.id,
    number: toSenderName(fields, row.email) === null ? await countUpTo(db.read, workspaceId, row) : null,
    createdAt: row.created_at,
    fields,
    ...(labels && { labels }),
    email: row.email,
    attribution: [held, attribution].filter(Boolean).join(' · '),
    url: `${origin}/app/${workspaceId}/inbox?open=${row.id}`,
    ...(files.length > 0 && { files }),
    facts: toLeadFacts({ ...resource, formKey: row.form_key }, link),
    submissionJson: orderedJson({
      ...resource,
      ...(link ? toShownLink(link) : { tags: [] }),
      touches,
      files: shownFiles,
      ...(held !== undefined && { heldAs: 'spam' }),
    }),
  }
}

const toShownLink = ({ tags, ...link }: EventLink) => ({ link, tags })

/** Counting more would hold up redirects on SQLite. */
const COUNTED_MAX = 1_000

/** Its number in its form; null in forms with many. */
async function countUpTo(read: Connection, workspaceId: number, row: SubmissionRow): Promise<number | null> {
  const form = read
    .selectFrom('forms')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('form_key', '=', row.form_key)
  const earlier = read
    .selectFrom('submissions')
    .select('id')
    .where('form_id', '=', form)
    .where(sql<boolean>`+workspace_id = ${workspaceId}`)
    .where(sql<boolean>`(created_at, id) <= (${row.created_at}, ${row.id})`)
    .limit(COUNTED_MAX + 1)
  const found = await earlier.execute()
  return found.length > COUNTED_MAX ? null : found.length
}

/** The reader of a late notification must know that the sender has waited. @returns undefined where it is not late */
function describeHeldTime({
  spam_reasons: reasons,
  announced_at: announcedAt,
  created_at: createdAt,
}: Pick<SubmissionRow, 'spam_reasons' | 'announced_at' | 'created_at'>): string | undefined {
  if (reasons === null || announcedAt === null) return undefined
  return `Held back as spam for ${formatDuration(announcedAt - createdAt)}`
}

const UNITS = [
  ['day', 24 * 60 * 60_000],
  ['hour', 60 * 60_000],
  ['minute', 60_000],
] as const

/** In the largest unit that fits. */
function formatDuration(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= length) ?? ['minute', 60_000]
  const count = Math.max(1, Math.floor(ms / size))
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
