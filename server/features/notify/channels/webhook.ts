// Webhooks as https://www.standardwebhooks.com describes them: a body, an id that stays the same over attempts, and a
// signature over both and the time of the attempt.

import { Webhook } from 'standardwebhooks'
import { toIso } from '../../../lib/api-fields.ts'
import type { ChannelSender, Notice } from './contract.ts'
import { postJson, toIncompleteResult } from './post-json.ts'

export const sendWebhook: ChannelSender = async (needs, to, notice) => {
  const { url, secrets = [] } = to.secrets
  if (!url) return toIncompleteResult('URL')
  if (secrets.length === 0) return toIncompleteResult('signing secret')
  const body = webhookBody(notice)
  const at = new Date(notice.at)
  // One per secret: during a rotation the receiver may know either.
  const signatures = secrets.map((secret) => new Webhook(secret).sign(notice.messageId, at, body))
  const headers = {
    'webhook-id': notice.messageId,
    'webhook-timestamp': String(Math.floor(notice.at / 1000)),
    'webhook-signature': signatures.join(' '),
  }
  const unsayable = secrets.flatMap((secret) => [secret, secret.replace(/^whsec_/, '')])
  return postJson(needs, notice, { url, headers, body, secrets: unsayable }, ({ status }) =>
    status === 410
      ? {
          permanent: { what: 'channel', reason: 'The receiver answered 410 Gone: it wants no more webhooks' },
        }
      : {},
  )
}

/** `timestamp` is when it happened, not when it is told: the same bytes in every attempt. */
export const webhookBody = ({ event, createdAt, submissionJson }: Notice) =>
  `{"type":${JSON.stringify(event)},"timestamp":"${toIso(createdAt)}","data":${submissionJson}}`
