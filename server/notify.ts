// Wires what tells people of submissions: the senders, the deliverer, and what the API of channels needs of both.

import type { Config } from './config.ts'
import { ownerEmails } from './features/accounts/members.ts'
import { tellSubmissions } from './features/forms/told-submission.ts'
import { sendBy } from './features/notify/channels.ts'
import { openDeliverer } from './features/notify/deliver.ts'
import { sealing } from './features/notify/secrets.ts'
import { closeMailers } from './http/smtp.ts'
import type { Rows } from './storage/rows/open.ts'

export interface NotifyNeeds {
  rows: Rows
  now: () => number
  settleAttribution: (workspaceId: number) => Promise<void>
}

/** Delivers from now on. */
export async function openNotify(config: Config, { rows, now, settleAttribution }: NotifyNeeds) {
  const { origin, secret, webhookAllow, smtpUrl, mailFrom } = config
  const shared = {
    now,
    sealing: sealing(secret),
    sendBy,
    send: { allow: webhookAllow, smtpUrl, mailFrom, origin },
    readSubmission: tellSubmissions({ rows, origin, settleAttribution }),
    ownerEmails: (workspaceId: number) => ownerEmails({ rows }, workspaceId),
  }
  const deliverer = await openDeliverer({ ...shared, rows })
  const { wake, figures } = deliverer
  return {
    /** What `notifyApi` takes. */
    api: { ...shared, wake },
    wake,
    figures,
    /** What is in hand is finished first. */
    async close() {
      await deliverer.close()
      closeMailers()
    },
  }
}

export type Notify = Awaited<ReturnType<typeof openNotify>>
