// Reads the email to a sender just before it is sent, so that later changes of the submission count.

import { sql } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import { mergeBrands, toMailBrand } from '../../accounts/brand/brand.ts'
import type { ReplyReader } from '../../notify/replies/send-reply.ts'
import type { AddressHasher } from './mailbox.ts'
import { renderReply } from './render-reply.ts'
import { CONFIRM_WITHIN_MS, type ReplyLinks } from './reply-links.ts'
import type { ReplySettings } from './schema.ts'

export interface ReplyReaderNeeds {
  db: Database
  links: ReplyLinks
  hashAddress: AddressHasher
  /** `https://go.example`, for the address of the logo. */
  origin: string
}

/**
 * Nothing is sent once the submission is deleted or spam, or is confirmed by hand; an automatic reply once the form has none
 * any more; the workspace is suspended, or the person has stopped its replies.
 */
export const createReplyReader =
  ({ db, links, hashAddress, origin }: ReplyReaderNeeds): ReplyReader =>
  async ({ workspaceId, submissionId, event, at, messageId }) => {
    const [row] = await selectAnswered(db.read, { workspaceId, submissionId })
    if (!row || row.email === null || row.suspended_at !== null) return undefined
    const isWanted =
      event === 'confirm'
        ? row.status === 'unconfirmed'
        : row.status !== 'spam' && row.status !== 'unconfirmed'
    if (!isWanted) return undefined
    const address = hashAddress(workspaceId, row.email)
    if (await isStopped(db.read, workspaceId, address)) return undefined
    const stopUrl = links.toStopUrl({ workspaceId, address })
    const brand = mergeBrands(row.brand, row.workspace_brand)
    const addressed = { ...toMailBrand(origin, brand, row.workspace_name), to: row.email, stopUrl }
    if (event === 'team_reply') {
      const written = await findTeamReply(db.read, { workspaceId, submissionId, messageId })
      if (!written) return undefined
      const { reply_to: replyTo, ...content } = written
      return { ...addressed, ...content, brand: { ...addressed.brand, replyTo: brand.replyTo ?? replyTo } }
    }
    if (row.reply === null) return undefined
    // The mail may have waited for days, and its recipient has the same time all the same.
    const expiresAt = at + CONFIRM_WITHIN_MS
    const confirmUrl =
      event === 'confirm' ? links.toConfirmUrl({ workspaceId, submissionId, expiresAt }) : undefined
    const values = { fields: new Map<string, string>(JSON.parse(row.fields)), email: row.email }
    const template: ReplySettings = JSON.parse(row.reply)
    return { ...addressed, confirmUrl, ...renderReply(template, { ...values, stopUrl, confirmUrl }) }
  }

/** A submission with its form and its workspace. The caller adds the columns. */
export const selectWithForm = (
  connection: Connection,
  { workspaceId, submissionId }: { workspaceId: number; submissionId: number },
) =>
  connection
    .selectFrom('submissions')
    .innerJoin('forms', 'forms.id', 'submissions.form_id')
    .innerJoin('workspaces', 'workspaces.id', 'submissions.workspace_id')
    .where('submissions.workspace_id', '=', workspaceId)
    .where('submissions.id', '=', submissionId)

const selectAnswered = prepareQuery((connection, query: { workspaceId: number; submissionId: number }) =>
  selectWithForm(connection, query).select([
    'submissions.email',
    'submissions.fields',
    'submissions.status',
    'forms.reply',
    'forms.brand',
    'workspaces.brand as workspace_brand',
    'workspaces.name as workspace_name',
    'workspaces.suspended_at',
  ]),
)

/** True where the person has stopped the replies of the workspace. */
export const isStopped = async (connection: Connection, workspaceId: number, address: string) =>
  (await selectStop(connection, { workspaceId, address })).length > 0

const selectStop = prepareQuery(
  (connection, { workspaceId, address }: { workspaceId: number; address: string }) =>
    connection
      .selectFrom('reply_stops')
      .select('stopped_at')
      .where('workspace_id', '=', workspaceId)
      .where('address', '=', address),
)

/** Finds the reply of a member that a delivery sends: its text, and the address for answers. */
const findTeamReply = (
  connection: Connection,
  by: { workspaceId: number; submissionId: number; messageId: string },
) =>
  connection
    .selectFrom('team_replies')
    .select(['subject', 'text', 'reply_to'])
    .where(sql<boolean>`+workspace_id = ${by.workspaceId}`)
    .where('submission_id', '=', by.submissionId)
    .where('message_id', '=', by.messageId)
    .executeTakeFirst()
