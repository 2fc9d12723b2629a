// The contract between delivery and channels: what a sender gets, and what it reports. Delivery knows no channel's format,
// and no channel knows about retries.

import type { ResolveHost } from '../../../http/safe-request.ts'
import type { Network } from '../../../lib/ip-network.ts'
import type { MailBudget } from '../../accounts/abuse/mail-budget.ts'
import type { ChannelEvent } from '../events/channel-events.ts'
import type { EventFacts } from '../events/channel-filter.ts'

/** A file of a submission. Its name is untrusted text, as values are. */
export interface NoticeFile {
  name: string
  bytes: number
  /** Opens the file for seven days. */
  url: string
  /** The key of its bytes in the file store. */
  key: string
}

/** The owner's own layout of a notification, with the values of the notification in it. All of it is plain text. */
export interface NoticeLayout {
  /** One line; null where the subject stays as it is without a template. */
  subject: string | null
  /** Cuts long values so that the cost of the text is at most `max`. */
  render(max: number, cost: (character: string) => number): string
  /** Parts that the text has are not repeated at the end. */
  hasAttribution: boolean
  hasUrl: boolean
}

/** A report of a view. Names and labels are untrusted text. */
export interface ReportContent {
  workspaceId: number
  name: string
  /** The page of the dashboard with the same figures. */
  url: string
  timezone: string
  /** ISO 8601; the end is exclusive. */
  start: string
  end: string
  /** Such as `Nov 20 – Nov 26, 2026`. */
  period: string
  /** `before` is the period before this one. */
  totals: { label: string; count: number; before: number }[]
  time: { label: string; count: number }[]
  lists: { title: string; rows: { label: string; count: number }[] }[]
}

/** An alert of a view. The name is untrusted text. */
export interface AlertContent {
  viewId: number
  name: string
  /** The page of the dashboard with the days of the hours. */
  url: string
  timezone: string
  /** ISO 8601; the end is exclusive. */
  start: string
  end: string
  /** Such as `Nov 27, 2026, 9:00 – 10:00 AM`. */
  period: string
  metric?: string
  when: 'above' | 'below' | 'silent'
  percent?: number
  window: string
  minimum?: number
  /** The figure, or the number of new links without a click. */
  count: number
  /** The mean of the same hours in earlier weeks. */
  expected?: number
  /** New links without a click: the first 20. */
  links?: { id: number; shortUrl: string }[]
  /** A sentence with the figures. */
  reason: string
}

/** A notification: of a submission, of several (a digest), of another event, a test, or about a channel that was disabled or falls behind. */
export interface Notice {
  /** `submission.digest` has a field for each submission that it lists. `channel.…` goes to owners by email. Its `form.name` is the channel's name, and its `fields` say why. */
  event:
    | ChannelEvent
    | 'submission.digest'
    | 'view.report'
    | 'view.alert'
    | 'test'
    | 'channel.disabled'
    | 'channel.behind'
  /** The same in all attempts, so that a receiver can recognize a repetition. */
  messageId: string
  /** When this attempt started, in milliseconds. */
  at: number
  form: { formKey: string; name: string }
  submissionId: number
  /** Which submission of its form it is, from 1 on, where its sender has no name; else null. */
  number: number | null
  createdAt: number
  /** In the order of the form. Names and values are untrusted text. */
  fields: ReadonlyMap<string, string>
  /** Labels that people read instead of field names. Absent where the form has no labels. */
  labels?: ReadonlyMap<string, string>
  /** The visitor's address if it is valid, else null. */
  email: string | null
  /** The attribution line, such as `newsletter / spring · go.example/abc · Berlin, DE · iPhone`, or ''. */
  attribution: string
  /** The page of the dashboard that shows everything. */
  url: string
  /** The visitor's files. Absent where there are none, and in a digest. */
  files?: NoticeFile[]
  /** The API resource as JSON text, for webhooks. */
  submissionJson: string
  /** The values that filters compare; absent where there is no filter. */
  facts?: EventFacts
  layout?: NoticeLayout
  /** The figures of a view, which a mail shows as tables. `fields` has the same as texts. */
  report?: ReportContent
  /** The number of submissions in a digest. */
  total?: number
}

/** Secrets of the channel's owner. The database has them sealed. */
export interface ChannelSecrets {
  url?: string
  botToken?: string
  /** The signing secrets of a webhook (`whsec_…`): the current one, and for 24 hours the one before. */
  secrets?: string[]
  /** Of a channel of type http. */
  headers?: Record<string, string>
}

export interface ChannelDestination {
  name: string
  recipients: string[]
  chatId: string | null
  /** Of a channel of type http, and the template of its body. */
  method?: string | null
  body?: string | null
  secrets: ChannelSecrets
  /** Bytes: the limit of attachments of a mail. */
  attachUpTo?: number
  /** The link that stops these mails. Absent for mails to owners about their workspace. */
  stop?: StopLink
  /** The link of each recipient, in the order of `recipients`, where each gets a separate mail. */
  ownStops?: StopLink[]
}

export interface StopLink {
  /** A page. */
  url: string
  /** The address for RFC 8058; null where a mail has several recipients, because one of them would decide for all. */
  oneClickUrl: string | null
}

/** The request of an attempt, as people may see it. */
export interface SentRequest {
  /** An HTTP method, or `SMTP`. */
  method: string
  /** The channel's address as answers show it; null for a mail. */
  url: string | null
  headers: Record<string, string>
  /** At most 16 KiB. */
  body: string
  /** The size of the whole body. */
  bodyBytes: number
}

/** The result of one attempt. */
export interface DeliveryResult {
  outcome: 'delivered' | 'refused' | 'unreachable' | 'timeout'
  httpStatus: number | null
  /** The answer of the service: at most 1 KiB, without secrets. */
  answer: string | null
  /** Absent when nothing can have been sent, such as to an address that is refused. */
  request?: SentRequest
  /** The service asks not to be tried again before this time. */
  retryAfterMs?: number
  /** Another attempt is pointless: for this message (`message`), or for every message to this channel (`channel`). */
  permanent?: { what: 'message' | 'channel'; reason: string }
  /** The fault is the operator's. Towpath never disables a channel because of it. */
  operatorFault?: boolean
  /** Nothing was sent, and this was no attempt: the channel waits this long. */
  postponed?: Postponement
}

export interface Postponement {
  ms: number
  /** A delivery that is older fails. Without it, deliveries wait for as long as it takes. */
  maxAgeMs?: number
}

export interface SendNeeds {
  /** `WEBHOOK_ALLOW_CIDRS` */
  allow: Network[]
  /** Absent where the operator has set up no mail: attempts of email channels then fail and say so. */
  smtpUrl?: string
  mailFrom?: string
  /** The mails that this server may still send today; unlimited when absent. */
  mailBudget?: Pick<MailBudget, 'take' | 'msUntilReset'>
  /** The workspace of the notification: each has a share of the mails. */
  workspaceId?: number
  /** `https://go.example` */
  origin: string
  /** Reads a file of a submission. Without it, mails have links only. */
  readFile?: (key: string) => Promise<Uint8Array>
  /** Finds every address of a name. The default is the resolver of the system. */
  resolve?: ResolveHost
  /** The time limit of an attempt. Each sender has a default of its own. */
  timeoutMs?: number
  /** The address of Telegram's Bot API, without a slash at the end. The default is `https://api.telegram.org`. */
  telegramApi?: string
}

/** The content of a notification, the same in every attempt. */
export type NoticeContent = Omit<Notice, 'event' | 'messageId' | 'at'>

/** Reads a submission as a notification, with its attribution resolved as far as possible; undefined when it is gone. */
export type SubmissionContentReader = (
  workspaceId: number,
  submissionId: number,
) => Promise<NoticeContent | undefined>

export type ChannelSender = (
  needs: SendNeeds,
  to: ChannelDestination,
  notice: Notice,
) => Promise<DeliveryResult>

/**
 * Tells the deliverer that a delivery may be due now.
 * @param recoveredChannelId a channel to try at once, although its last attempts failed
 */
export type WakeDeliverer = (recoveredChannelId?: number) => void
