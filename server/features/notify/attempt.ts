// One attempt to say something to one channel. Whatever goes wrong inside is an attempt that failed, not an error.

import { describeError, log } from '../../lib/log.ts'
import type { Rows } from '../../storage/rows/open.ts'
import { masked, secretsOfUrl } from './channels/answer.ts'
import type { Claim } from './claim.ts'
import { type Content, destinationOf, type ReadSubmission, testContent } from './content.ts'
import { WORD } from './enqueue.ts'
import type { ChannelSecrets, Destination, Result, Send, SendNeeds } from './notice.ts'
import type { ChannelType } from './schema.ts'
import type { Sealing } from './secrets.ts'
import { wordContent, wordReaders } from './word.ts'

export interface AttemptNeeds {
  rows: Rows
  sealing: Sealing
  sendBy: Record<ChannelType, Send>
  send: SendNeeds
  readSubmission: ReadSubmission
  /** Whom to tell that a channel was switched off. */
  ownerEmails: (workspaceId: number) => Promise<string[]>
}

/** Senders have limits of their own (15 s, mail 30 s). This one is for what has none, and is shorter than a lease. */
const GIVE_UP_MS = 45_000

type Asked = Pick<Claim, 'workspaceId' | 'submissionId' | 'event' | 'messageId' | 'channel'>

/** @returns undefined when there is nothing to say any more */
export async function attempt(needs: AttemptNeeds, claim: Asked, at: number): Promise<Result | undefined> {
  let to: Destination | undefined
  try {
    const content = await contentOf(needs, claim, at)
    if (!content) return undefined
    to = await destination(needs, claim, at)
    if (!to) return undefined
    const send = needs.sendBy[claim.event === WORD ? 'email' : (claim.channel.type as ChannelType)]
    const notice = { ...content, event: claim.event as 'test', messageId: claim.messageId, at }
    return await inTime(send(needs.send, to, notice))
  } catch (error) {
    const { workspaceId, messageId, channel } = claim
    const said = Object.entries(describeError(error)).map(([name, value]) => [
      name,
      typeof value === 'string' ? masked(value, textsOf(to?.secrets)) : value,
    ])
    const about = { workspace: workspaceId, channel: channel.id, type: channel.type, messageId }
    log.error('attempt_broke', { ...about, ...Object.fromEntries(said) })
    return { outcome: 'unreachable', httpStatus: null, answer: 'A fault of Towpath, which its log describes' }
  }
}

async function contentOf(needs: AttemptNeeds, claim: Asked, at: number): Promise<Content | undefined> {
  const { workspaceId, submissionId, event, channel } = claim
  if (event === 'test') return testContent(channel, needs.send.origin, at)
  if (event === WORD) return wordContent(needs.rows.read, channel, needs.send.origin, at)
  return submissionId === null ? undefined : needs.readSubmission(workspaceId, submissionId)
}

async function destination(needs: AttemptNeeds, { event, channel }: Asked, at: number) {
  if (event !== WORD) return destinationOf(needs.sealing, channel, at)
  const recipients = await wordReaders(needs, channel.workspace_id)
  return recipients.length === 0 ? undefined : { name: channel.name, recipients, chatId: null, secrets: {} }
}

const textsOf = ({ url, botToken, secrets = [] }: ChannelSecrets = {}) => [
  ...(url === undefined ? [] : secretsOfUrl(url)),
  ...(botToken === undefined ? [] : [botToken]),
  ...secrets,
]

async function inTime(work: Promise<Result>): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>()
  const timer = setTimeout(
    () => resolve({ outcome: 'timeout', httpStatus: null, answer: 'There was no answer in time' }),
    GIVE_UP_MS,
  )
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
