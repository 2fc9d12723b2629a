// Wires notifications: the senders, the deliverer, and the needs of the API of channels and deliveries.

import type { Config } from './config.ts'
import type { RateLimiter } from './features/accounts/access/rate-limiter.ts'
import type { MailBudget } from './features/accounts/strangers/mail-budget.ts'
import { listOwnerEmails } from './features/accounts/workspaces/members.ts'
import { createAddressHasher } from './features/forms/replies/mailbox.ts'
import { createReplyReader } from './features/forms/replies/read-reply.ts'
import { createReplyLinks } from './features/forms/replies/reply-links.ts'
import { createNotificationContentReader } from './features/forms/submissions/notification-content.ts'
import { channelSenders } from './features/notify/channels/registry.ts'
import { createSealing } from './features/notify/channels/secrets.ts'
import { openDeliverer } from './features/notify/delivery/deliverer.ts'
import { createRecipientLinks } from './features/notify/recipients/recipient-links.ts'
import type { MailSender } from './http/mail/send-mail.ts'
import { closeMailers } from './http/mail/smtp.ts'
import type { Database } from './storage/database/open-database.ts'

export interface NotifyNeeds {
  db: Database
  limiter: RateLimiter
  mailBudget: MailBudget
  sendMail?: MailSender
  now: () => number
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
}

/** Opens the deliverer, which delivers from now on. */
export async function openNotify(config: Config, needs: NotifyNeeds) {
  const { db, now, limiter, mailBudget, sendMail, resolvePendingAttribution } = needs
  const { origin, secret, webhookAllow, trustProxy, smtpUrl, mailFrom } = config
  const replyLinks = createReplyLinks(secret, origin)
  const shared = {
    now,
    sealing: createSealing(secret),
    senders: channelSenders,
    send: { allow: webhookAllow, smtpUrl, mailFrom, mailBudget, origin },
    recipients: { links: createRecipientLinks(secret, origin), limiter, sendMail, origin },
    readSubmission: createNotificationContentReader({ db, origin, resolvePendingAttribution }),
    readReply: createReplyReader({ db, links: replyLinks, hashAddress: createAddressHasher(secret) }),
    ownerEmails: (workspaceId: number) =>
      listOwnerEmails({ db, onlyVerified: config.signup === 'open' }, workspaceId),
  }
  const deliverer = await openDeliverer({ ...shared, db })
  const { wake, metrics } = deliverer
  return {
    /** The needs of `createNotifyApi`. */
    api: { ...shared, wake },
    /** The needs of `createMailRoutes`. */
    mailRoutes: { db, now, limiter, wake: () => wake(), links: shared.recipients.links, origin, trustProxy },
    replyLinks,
    wake,
    metrics,
    /** Waits for the running attempts first. */
    async close() {
      await deliverer.close()
      closeMailers()
    },
  }
}

export type Notify = Awaited<ReturnType<typeof openNotify>>
