// What a channel is given to say, and what it says of having said it. Whoever delivers knows no channel's format, and no
// channel knows of retries.

import type { Network } from '../../../lib/ip-network.ts'

/** A submission on its way to people, or a test of the way, or word that a channel was switched off. */
export interface Notice {
  /** `channel.disabled` is for owners, by e-mail; `form.name` is then the channel's name, `fields` say why. */
  event: 'submission.created' | 'test' | 'channel.disabled'
  /** The same over all attempts: a receiver can tell a repetition by it. */
  messageId: string
  /** Of this attempt, milliseconds. */
  at: number
  form: { formKey: string; name: string }
  submissionId: number
  createdAt: number
  /** In the sender's order; text of a stranger, every bit of it. */
  fields: ReadonlyMap<string, string>
  /** A valid address, or null. */
  email: string | null
  /** `newsletter / spring · go.example/abc · Berlin, DE · iPhone`, or ''. */
  attribution: string
  /** Where a person reads the rest. */
  url: string
  /** The resource as the API answers it, as JSON text, for webhooks. */
  submissionJson: string
}

/** What only the channel's own owner may know; sealed in the rows. */
export interface ChannelSecrets {
  url?: string
  botToken?: string
  /** Of a webhook: `whsec_…`, the present one first; the one before it for 24 hours. */
  secrets?: string[]
}

export interface ChannelDestination {
  name: string
  recipients: string[]
  chatId: string | null
  secrets: ChannelSecrets
}

/** How one attempt ended. */
export interface DeliveryResult {
  outcome: 'delivered' | 'refused' | 'unreachable' | 'timeout'
  httpStatus: number | null
  /** What the service said, cut; never a secret of ours. */
  answer: string | null
  /** Not before, says the service. */
  retryAfterMs?: number
  /** Trying again is pointless: this message only (`message`), or everything to this channel (`channel`). */
  permanent?: { what: 'message' | 'channel'; reason: string }
  /** The operator's fault and not the channel's, which is never switched off for it. */
  operatorFault?: boolean
}

export interface SendNeeds {
  /** `WEBHOOK_ALLOW_CIDRS` */
  allow: Network[]
  /** Absent where the operator set none: e-mail channels then say so. */
  smtpUrl?: string
  mailFrom?: string
  /** `https://go.example` */
  origin: string
  /** For the whole of an attempt; each way has its own unless said otherwise. */
  timeoutMs?: number
  /** Where Telegram's Bot API is, without a slash at the end: `https://api.telegram.org` unless said otherwise. */
  telegramApi?: string
}

export type ChannelSender = (
  needs: SendNeeds,
  to: ChannelDestination,
  notice: Notice,
) => Promise<DeliveryResult>
