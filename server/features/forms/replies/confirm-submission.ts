// Confirmation of a submission by the holder of the link in the email: a page about it, and the confirmation.

import { type RawBuilder, sql } from 'kysely'
import type { PageBrand } from '../../../http/page-brand.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { mergeBrands, toPageBrand } from '../../accounts/brand/brand.ts'
import { type AnnounceNeeds, announceHeldSubmissions } from '../leads/announce-submission.ts'
import { toMailbox } from './mailbox.ts'
import { selectWithForm } from './read-reply.ts'
import type { ConfirmLink, ReplyLinks } from './reply-links.ts'

export interface ConfirmNeeds extends AnnounceNeeds {
  now: () => number
  links: ReplyLinks
}

export interface Confirmation {
  state: 'waiting' | 'confirmed' | 'expired'
  /** The number of submissions that one press confirms. */
  waiting: number
  form: { name: string; successMessage: string | null; pageUrl: string | null; brand?: PageBrand }
  /** The language of the sender's page. */
  language: string | null
}

/**
 * The maximum number of submissions that one press confirms. People do not send a form more often before pressing.
 */
const CONFIRMED_MAX = 50

/** @returns undefined for a token that is not ours, and where the submission is gone */
export async function describeConfirmation(
  { db, now, links }: ConfirmNeeds,
  token: string,
): Promise<Confirmation | undefined> {
  const link = links.readConfirmToken(token)
  const row = link && (await findSubmission(db.read, link))
  if (!link || !row) return undefined
  const isWaiting = row.status === 'unconfirmed'
  const isExpired = isWaiting && link.expiresAt <= now()
  return {
    state: isExpired ? 'expired' : isWaiting ? 'waiting' : 'confirmed',
    waiting: isWaiting ? (await listWaiting(db.read, link, row)).length : 0,
    form: {
      name: row.name,
      successMessage: row.success_message,
      pageUrl: row.page_url,
      brand: toPageBrand(mergeBrands(row.brand, row.workspace_brand)),
    },
    language: row.language,
  }
}

/**
 * Confirms the submission, and the unconfirmed others of the same mailbox and form, which got no separate email. Does
 * nothing the second time.
 */
export async function confirmSubmission(
  needs: ConfirmNeeds,
  token: string,
): Promise<Confirmation | undefined> {
  const confirmation = await describeConfirmation(needs, token)
  const link = needs.links.readConfirmToken(token)
  if (!link || confirmation?.state !== 'waiting') return confirmation
  const { workspaceId } = link
  await needs.db.write(async (connection, onCommit) => {
    const row = await findSubmission(connection, link)
    if (row?.status !== 'unconfirmed') return
    const confirmed = await connection
      .updateTable('submissions')
      .set({ status: 'new' })
      .where('workspace_id', '=', workspaceId)
      .where('id', 'in', await listWaiting(connection, link, row))
      .where('status', '=', 'unconfirmed')
      .returning('id')
      .execute()
    const held = { workspaceId, ids: confirmed.map(({ id }) => id), at: needs.now() }
    await announceHeldSubmissions(connection, onCommit, needs, held)
  })
  return { ...confirmation, state: 'confirmed' }
}

const findSubmission = (connection: Connection, link: ConfirmLink) =>
  selectWithForm(connection, link)
    .select([
      'forms.brand',
      'workspaces.brand as workspace_brand',
      'submissions.status',
      'submissions.email',
      'submissions.form_id',
      'submissions.language',
      'forms.name',
      'forms.success_message',
      'forms.page_url',
    ])
    .executeTakeFirst()

/** @returns the submission of the link first, and then the newest others of its mailbox */
async function listWaiting(
  connection: Connection,
  { workspaceId, submissionId }: ConfirmLink,
  { email, form_id }: { email: string | null; form_id: number },
): Promise<number[]> {
  const mailbox = toMailbox(email ?? '')
  const [name = '', domain = ''] = mailbox.split('@')
  const select = (isOfMailbox: RawBuilder<boolean>) =>
    connection
      .selectFrom('submissions')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('email', 'is not', null)
      .where(isOfMailbox)
      .where('form_id', '=', form_id)
      .where('status', '=', 'unconfirmed')
      .where('id', '<>', submissionId)
      .orderBy('id', 'desc')
      .limit(CONFIRMED_MAX)
      .execute()
  // Two queries, because SQLite searches the index by address for each, and for both with `or` it does not.
  const plain = await select(sql<boolean>`lower(email) = ${mailbox}`)
  // `,` follows `+` in ASCII: all tags of this name.
  const tagged = await select(
    sql<boolean>`lower(email) >= ${`${name}+`} and lower(email) < ${`${name},`} and lower(email) like ${`%@${domain}`}`,
  )
  const others = [...plain, ...tagged].map(({ id }) => id).sort((a, b) => b - a)
  return [submissionId, ...others].slice(0, CONFIRMED_MAX)
}
