// Sends Standard Webhooks (https://www.standardwebhooks.com): a body, an id that is the same in all attempts, and a
// signature of both and the time of the attempt.

import { createHmac } from 'node:crypto'
import { toIso } from '../../../lib/iso-time.ts'
import type { ChannelSender, Notice } from './contract.ts'
import { postJson, readProgram, toIncompleteResult } from './post-json.ts'

export const sendWebhook: ChannelSender = async (needs, to, notice) => {
  const { url, secrets = [] } = to.secrets
  if (!url) return toIncompleteResult('URL')
  if (secrets.length === 0) return toIncompleteResult('signing secret')
  const body = webhookBody(notice)
  const seconds = String(Math.floor(notice.at / 1000))
  // One signature for each secret: during a rotation, the receiver may know either secret.
  const signatures = secrets.map((secret) => sign(secret, `${notice.messageId}.${seconds}.${body}`))
  const headers = {
    'webhook-id': notice.messageId,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.join(' '),
    'towpath-event-version': EVENT_VERSION,
  }
  const secretTexts = secrets.flatMap((secret) => [secret, secret.replace(/^whsec_/, '')])
  const message = { url, shownUrl: url, headers, body, secrets: secretTexts }
  return postJson(needs, notice, message, readProgram('webhooks'))
}

/** The native hash: a body of clicks has a quarter of a megabyte, and the event loop waits for it. */
const sign = (secret: string, content: string) =>
  `v1,${createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(content)
    .digest('base64')}`

/** Of `data`. New fields may come without another version; none goes, and none changes its meaning. */
const EVENT_VERSION = '1'

/** `timestamp` is when the event happened and not when the attempt runs, so all attempts send the same bytes. */
export const webhookBody = ({ event, createdAt, submissionJson }: Notice) =>
  `{"type":${JSON.stringify(event)},"timestamp":"${toIso(createdAt)}","data":${submissionJson}}`
