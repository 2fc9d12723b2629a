// Asks the recipients of an email channel whether they want its mails. Nothing else is sent to an address before its
// person has confirmed.

import type { MailSender } from '../../../http/mail/send-mail.ts'
import { cutText } from '../../../lib/clean-text.ts'
import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { RateLimiter } from '../../accounts/access/rate-limiter.ts'
import type { RecipientLinks } from './recipient-links.ts'

export interface RecipientNeeds {
  links: RecipientLinks
  limiter: RateLimiter
  /** Absent where the operator has set up no mail: nobody is asked. */
  sendMail?: MailSender
  origin: string
}

/** Limits of mails to one address, from all workspaces, and of mails from one workspace. */
const PER_ADDRESS_A_DAY = 3
const PER_WORKSPACE_A_DAY = 50

interface AskNeeds {
  db: Database
  now: () => number
  recipients: RecipientNeeds
}

/** Asks those who have never been asked in this workspace. Does not wait for the mail server. */
export function askNewRecipients(needs: AskNeeds, workspaceId: number, unconfirmed: string[]): void {
  if (!needs.recipients.sendMail || unconfirmed.length === 0) return
  void askEach(needs, workspaceId, unconfirmed).catch((error) =>
    log.error('recipients_not_asked', { workspace: workspaceId, ...describeError(error) }),
  )
}

async function askEach(needs: AskNeeds, workspaceId: number, unconfirmed: string[]) {
  for (const address of unconfirmed) {
    const isNew = await noteRecipient(needs, workspaceId, address)
    if (isNew && (await takeLimits(needs, workspaceId, address)))
      await mailQuestion(needs, workspaceId, address)
  }
}

/** @returns to how many the mail server took a mail @throws Failure `too_many` */
export async function askAgain(needs: AskNeeds, workspaceId: number, unconfirmed: string[]): Promise<number> {
  if (!needs.recipients.sendMail) return 0
  let mailed = 0
  let limited = 0
  for (const address of unconfirmed) {
    await noteRecipient(needs, workspaceId, address)
    if (!(await takeLimits(needs, workspaceId, address))) limited++
    else if (await mailQuestion(needs, workspaceId, address)) mailed++
  }
  if (limited > 0 && limited === unconfirmed.length)
    throw new Failure('too_many', 'These people were asked several times today. Try again tomorrow.', {
      retryAfter: DAY_MS / 1000,
    })
  return mailed
}

/** @returns whether the address is new in the workspace */
async function noteRecipient({ db, now }: AskNeeds, workspaceId: number, address: string): Promise<boolean> {
  const added = await db.write((connection) =>
    connection
      .insertInto('mail_recipients')
      .values({ workspace_id: workspaceId, email: address.toLowerCase(), created_at: now() })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'email']).doNothing())
      .returning('id')
      .executeTakeFirst(),
  )
  return added !== undefined
}

async function takeLimits({ recipients: { limiter } }: AskNeeds, workspaceId: number, address: string) {
  const email = address.toLowerCase()
  const workspace = await limiter.take(`recipients of ${workspaceId}`, PER_WORKSPACE_A_DAY, DAY_MS)
  return workspace.allowed && (await limiter.take(`recipient ${email}`, PER_ADDRESS_A_DAY, DAY_MS)).allowed
}

/**
 * The mail names the workspace, and has no other text of it: otherwise anybody could send texts to anybody. The name is
 * short and cannot be a link.
 */
async function mailQuestion(
  { db, recipients: { links, sendMail, origin } }: AskNeeds,
  workspaceId: number,
  address: string,
): Promise<boolean> {
  if (!sendMail) return false
  const name = await readName(db, workspaceId)
  const url = links.toPage(links.createToken({ workspaceId, emails: [address.toLowerCase()] }))
  return sendMail({
    to: address,
    purpose: 'recipient',
    workspaceId,
    fromName: name,
    subject: `${name} wants to send you form submissions`,
    text: `Hi,

${name} would like to email you when someone submits one of its forms.

Confirm or refuse here:
${url}

You get no submissions until you confirm. If you don’t know ${name}, ignore this email.

Sent with Towpath on ${origin}
`,
  })
}

const NAME_MAX = 60
/** Control and direction characters, and those of links and addresses. */
const NO_NAME = /[\p{C}.:/\\@<>]+/gu

/** Without the characters that make a link in mail programs. */
async function readName({ read }: Database, workspaceId: number): Promise<string> {
  const row = await read
    .selectFrom('workspaces')
    .select('name')
    .where('id', '=', workspaceId)
    .executeTakeFirst()
  const name = (row?.name ?? '').replace(NO_NAME, ' ').replace(/\s+/g, ' ').trim()
  return cutText(name, NAME_MAX) || 'A workspace'
}
