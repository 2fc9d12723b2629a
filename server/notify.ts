// Wires notifications: the senders, the deliverer, and the needs of the API of channels and deliveries.

import type { Config } from './config.ts'
import { listOwnerEmails } from './features/accounts/workspaces/members.ts'
import { createNotificationContentReader } from './features/forms/submissions/notification-content.ts'
import { channelSenders } from './features/notify/channels/registry.ts'
import { createSealing } from './features/notify/channels/secrets.ts'
import { openDeliverer } from './features/notify/delivery/deliverer.ts'
import { closeMailers } from './http/smtp.ts'
import type { Database } from './storage/database/open-database.ts'

export interface NotifyNeeds {
  db: Database
  now: () => number
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
}

/** Opens the deliverer, which delivers from now on. */
export async function openNotify(config: Config, { db, now, resolvePendingAttribution }: NotifyNeeds) {
  const { origin, secret, webhookAllow, smtpUrl, mailFrom } = config
  const shared = {
    now,
    sealing: createSealing(secret),
    senders: channelSenders,
    send: { allow: webhookAllow, smtpUrl, mailFrom, origin },
    readSubmission: createNotificationContentReader({ db, origin, resolvePendingAttribution }),
    ownerEmails: (workspaceId: number) => listOwnerEmails({ db }, workspaceId),
  }
  const deliverer = await openDeliverer({ ...shared, db })
  const { wake, metrics } = deliverer
  return {
    /** The needs of `createNotifyApi`. */
    api: { ...shared, wake },
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
