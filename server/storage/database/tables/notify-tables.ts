// Notification channels and deliveries.

import type { Generated } from 'kysely'

export interface Channels {
  id: Generated<number>
  workspace_id: number
  /** `email`, `slack`, `discord`, `telegram`, `teams`, `webhook` or `http`; `reply` is the hidden channel of replies to senders. */
  type: string
  name: string
  /** A JSON list of email addresses. */
  recipients: Generated<string>
  /** The URL in the form that answers show. */
  shown_url: string | null
  /** For Telegram. */
  chat_id: string | null
  /** URL, bot token and signing secrets, encrypted. */
  sealed: string | null
  enabled: Generated<number>
  disabled_reason: string | null
  /** When the first of the current series of failures happened. A success ends the series. */
  failing_since: number | null
  /**
   * Like `failing_since`, but a fault of the operator restarts it. Five days of the channel's own failures disable it.
   */
  own_failures_since: number | null
  /** Why the last attempt failed; null after a success. */
  last_error: string | null
  /** The service asked to be called again only after this time. */
  paused_until: number | null
  last_delivery_at: number | null
  /** The time from which more notifications arrive than the channel accepts; null while it keeps up. */
  behind_since: number | null
  /** When the owners last got a mail that it falls behind. */
  behind_noticed_at: number | null
  /** JSON of `ChannelTemplate`; null for Towpath's own layout. */
  template: string | null
  /** `hour` or `day`: one message for all submissions of this time. */
  digest: string | null
  /** JSON of `QuietHours`. */
  quiet_hours: string | null
  /** Bytes. The files of a submission are attached to its mail if their total is at most this. */
  attach_up_to: Generated<number>
  /** 1 if new forms get this channel. */
  all_forms: Generated<number>
  /** A JSON list of `ChannelEvent`; null for submissions alone. */
  events: string | null
  /** JSON of `ChannelFilter`, as it was written. */
  filter: string | null
  /** For channels of type http. */
  method: string | null
  /** JSON of its headers as answers show them, without values that may be secret. */
  headers: string | null
  /** The template of its body. */
  body: string | null
  created_at: number
  updated_at: number
}

/** One notification on its way to one channel. */
export interface Deliveries {
  id: Generated<number>
  workspace_id: number
  channel_id: number
  /** Null for a test. */
  submission_id: number | null
  /**
   * `submission.created`, `submission.digest`, `view.report`, `view.alert` or `test`; a notice to owners: `channel.disabled` or `channel.behind`; or a mail to the sender:
   * `reply` or `confirm`; or another event of the workspace, such as `link.created`.
   */
  event: string
  /** The same for all attempts. */
  message_id: string
  /** `waiting`, `delivered` or `failed`. */
  status: string
  /** Counted at the start of each attempt. */
  attempts: Generated<number>
  /** Attempts that ended because the process ended. */
  interrupted: Generated<number>
  /** The sum of `attempts` and `interrupted` before the last manual retry, which sets both to 0. */
  attempts_before: Generated<number>
  interrupted_before: Generated<number>
  /** Why the last attempt failed, or why the delivery waits; null after a success. */
  last_error: string | null
  /** Null unless it waits, and while a digest sends it. */
  due_at: number | null
  /** The delivery of the digest that sends it, or has sent it. */
  digest_id: number | null
  /** 1 if a person has retried it: then no digest sends it. */
  sent_alone: Generated<number>
  /** The report of a view that it sends. */
  report_id: number | null
  /** The end of the lease of the process that claimed the delivery. After it, another process can claim it. */
  leased_until: number | null
  /** The request that has caused it; null without one, and for deliveries older than this column. */
  request_id: string | null
  /** Its span, where it was traced (W3C Trace Context). */
  traceparent: string | null
  /** JSON of an event of a link or an outcome; null for other events, and after its retention. */
  payload: string | null
  created_at: number
  finished_at: number | null
}

/** The progress of a consumer of events. It changes in the transaction that stores the deliveries. */
export interface EventMarks {
  /** `clicks/<node>`, or `expirations`. */
  consumer: string
  /** The last completely consumed batch of the node; or the time up to which expired links are consumed. */
  position: number
  /** The last consumed hit of the next batch; or the last consumed link of that time. 0 for none. */
  step: number
}

export interface DeliveryAttempts {
  id: Generated<number>
  delivery_id: number
  workspace_id: number
  attempt: number
  outcome: string
  http_status: number | null
  /** The first kilobyte of the answer. */
  answer: string | null
  /** The request as JSON (`channels/sent-request.ts`). Only the newest request of a delivery is kept. */
  request: string | null
  took_ms: number
  at: number
}

/** A recipient of a workspace's email channels. It gets notifications after its confirmation. */
export interface MailRecipients {
  id: Generated<number>
  workspace_id: number
  /** Lower case. */
  email: string
  confirmed_at: number | null
  /** The person wants no more mails of this workspace. */
  stopped_at: number | null
  created_at: number
}
