// The content of a digest: a list of its submissions, or the whole of the only one.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { NoticeContent, SubmissionContentReader } from '../channels/contract.ts'
import {
  formatAttribution,
  jsonLength,
  removeControlCharacters,
  toOneLine,
  truncateText,
} from '../channels/safe-text.ts'
import { toSenderName } from '../channels/sender-name.ts'
import { createNotice } from '../content/notice-content.ts'
import type { ChannelTemplate } from '../schema.ts'
import { createLayout } from '../templates/create-layout.ts'

/** Submissions that a digest lists. It counts the others. */
const LISTED_MAX = 100
/** A submission can have a megabyte, and the texts of those that are read together are in memory. */
const READ_AT_ONCE = 5
const COUNTED_AT_ONCE = 1_000
/** The most characters of one submission. */
const ITEM_MAX = 2_000
const VALUE_MAX = 400

export interface DigestNeeds {
  db: Database
  readSubmission: SubmissionContentReader
  /** `https://go.example` */
  origin: string
}

export interface DigestDelivery {
  id: number
  workspaceId: number
  template: ChannelTemplate | null
}

/** @returns undefined when all of its submissions are gone */
export async function readDigestContent(
  { db, readSubmission, origin }: DigestNeeds,
  { id, workspaceId, template }: DigestDelivery,
): Promise<NoticeContent | undefined> {
  const submissionIds = await listSubmissionIds(db.read, workspaceId, id)
  const [only, ...others] = submissionIds
  if (only === undefined) return undefined
  if (others.length === 0) return readSubmission(workspaceId, only)
  const items = new Map<string, string>()
  const forms = new Map<string, string>()
  let newest = 0
  for (let from = 0; from < submissionIds.length; from += READ_AT_ONCE) {
    await takeTurn()
    const some = submissionIds.slice(from, from + READ_AT_ONCE)
    const read = await Promise.all(some.map((submissionId) => readSubmission(workspaceId, submissionId)))
    for (const content of read) {
      if (!content) continue
      forms.set(content.form.formKey, content.form.name)
      newest = Math.max(newest, content.createdAt)
      items.set(toItemName(content, items), toItemText(content, template))
    }
  }
  if (items.size === 0) return undefined
  const total = await countSubmissions(db.read, workspaceId, id, submissionIds.length)
  const [[formKey, formName] = ['', '']] = forms
  const url = `${origin}/app/${workspaceId}/inbox`
  return {
    // No webhook has a digest.
    ...createNotice({ name: '', at: newest, fields: items, url, json: 'null' }),
    form: forms.size === 1 ? { formKey, name: formName } : { formKey: '', name: `${forms.size} forms` },
    // Some may have been erased since they were listed.
    total: Math.max(items.size, total - (submissionIds.length - items.size)),
  }
}

async function listSubmissionIds(connection: Connection, workspaceId: number, digestId: number) {
  const rows = await connection
    .selectFrom('deliveries')
    .select('submission_id')
    .where('workspace_id', '=', workspaceId)
    .where('digest_id', '=', digestId)
    .where('submission_id', 'is not', null)
    .where('sent_alone', '=', 0)
    .orderBy('id')
    .limit(LISTED_MAX)
    .execute()
  return rows.map(({ submission_id }) => submission_id as number)
}

async function countSubmissions(
  connection: Connection,
  workspaceId: number,
  digestId: number,
  listed: number,
) {
  if (listed < LISTED_MAX) return listed
  for (let [count, after] = [0, 0]; ; ) {
    await takeTurn()
    const rows = await connection
      .selectFrom('deliveries')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('digest_id', '=', digestId)
      .where('sent_alone', '=', 0)
      .where('id', '>', after)
      .orderBy('id')
      .limit(COUNTED_AT_ONCE)
      .execute()
    count += rows.length
    after = rows.at(-1)?.id ?? after
    if (rows.length < COUNTED_AT_ONCE) return count
  }
}

/** Form and sender, with a number where one sender has several. */
function toItemName(
  { submissionId, number, form, fields, email }: NoticeContent,
  taken: Map<string, string>,
) {
  const sender = toSenderName(fields, email) ?? `#${number ?? submissionId}`
  const name = `${truncateText(toOneLine(form.name), 80)}: ${sender}`
  for (let n = 1; ; n++) {
    const numbered = n === 1 ? name : `${name} (${n})`
    if (!taken.has(numbered)) return numbered
  }
}

function toItemText(content: NoticeContent, template: ChannelTemplate | null): string {
  const layout = template === null ? undefined : createLayout(template, content)
  const attribution = formatAttribution(layout ? { ...content, layout } : content, 300)
  const body = layout ? layout.render(ITEM_MAX, jsonLength).trim() : listFields(content)
  return [body, attribution].filter(Boolean).join('\n')
}

/** Further lines are indented, so that no value can look like another field. */
const listFields = ({ fields }: NoticeContent) =>
  truncateText(
    [...fields]
      .map(([name, value]) => `${truncateText(toOneLine(name.slice(0, 200)), 100)}: ${toShortValue(value)}`)
      .join('\n'),
    ITEM_MAX,
  )

const toShortValue = (value: string) =>
  truncateText(removeControlCharacters(value.slice(0, 2 * VALUE_MAX)).trim(), VALUE_MAX).replaceAll(
    '\n',
    '\n  ',
  )
