// Wires notifications: the senders, the deliverer, and the needs of the API of channels and deliveries.

import type { Config } from '../config/config.ts'
import { mailOwners } from '../features/accounts/workspaces/mail-owners.ts'
import { listOwnerEmails } from '../features/accounts/workspaces/members.ts'
import { createAddressHasher } from '../features/forms/replies/mailbox.ts'
import { toPausedRepliesMail } from '../features/forms/replies/paused-replies-mail.ts'
import { createReplyReader } from '../features/forms/replies/read-reply.ts'
import { createReplyLinks } from '../features/forms/replies/reply-links.ts'
import { createReplyOutbox } from '../features/forms/replies/reply-outbox.ts'
import { createNotificationContentReader } from '../features/forms/submissions/notification-content.ts'
import { channelSenders } from '../features/notify/channels/registry.ts'
import { createSealing } from '../features/notify/channels/secrets.ts'
import { openDeliverer } from '../features/notify/delivery/deliverer.ts'
import { createRecipientLinks } from '../features/notify/recipients/recipient-links.ts'
import { closeMailers } from '../http/mail/smtp.ts'
import type { CommonParts } from './common-parts.ts'

/** Opens the deliverer, which delivers from now on. */
export async function openNotify(config: Config, parts: CommonParts) {
  const { db, now, limiter, mailBudget, sendMail, resolvePendingAttribution } = parts
  const { origin, secret, webhookAllow, trustProxy, smtpUrl, mailFrom } = config
  const replyLinks = createReplyLinks(secret, origin)
  const hashAddress = createAddressHasher(secret)
  const shared = {
    now,
    sealing: createSealing(secret),
    senders: channelSenders,
    send: {
      allow: webhookAllow,
      smtpUrl,
      mailFrom,
      mailBudget,
      origin,
      readFile: async (key: string) => {
        const bytes = await parts.uploads.store.read(key)
        if (!bytes) throw new Error(`The file store has no ${key}`)
        return new Response(bytes).bytes()
      },
    },
    recipients: { links: createRecipientLinks(secret, origin), limiter, sendMail, origin },
    readSubmission: createNotificationContentReader({
      db,
      origin,
      resolvePendingAttribution,
      toFileUrl: (key) => parts.uploads.links.toUrl(key, now()),
    }),
    readReply: createReplyReader({ db, links: replyLinks, hashAddress, origin }),
    ownerEmails: (workspaceId: number) => listOwnerEmails(parts, workspaceId),
  }
  const deliverer = await openDeliverer({ ...shared, db })
  const { wake, metrics } = deliverer
  return {
    /** The needs of `createNotifyApi`. */
    api: { ...shared, wake },
    /** The needs of `createMailRoutes`. */
    mailRoutes: { db, now, limiter, wake: () => wake(), links: shared.recipients.links, origin, trustProxy },
    replyLinks,
    /** Needs of `createTeamRepliesApi`. */
    teamReplies: { limiter, hashAddress, canMail: sendMail !== undefined, wakeDeliverer: () => wake() },
    replies: createReplyOutbox({
      engine: db.engine,
      hashAddress,
      mailFrom: smtpUrl === undefined ? undefined : mailFrom,
      wakeDeliverer: wake,
      onLimit: (workspaceId) => void mailOwners(parts, workspaceId, toPausedRepliesMail(origin, workspaceId)),
    }),
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
