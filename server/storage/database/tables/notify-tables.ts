// Channels, and notifications on their way to them.

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
   * Like `failing_since`, but restarted by a fault of the operator. Five days of the channel's own failures disable it.
   */
  own_failures_since: number | null
  /** Why the last attempt failed; null after a success. */
  last_error: string | null
  /** The service asked for no calls before this time. */
  paused_until: number | null
  last_delivery_at: number | null
  /** Since when more notifications come than the channel takes; null while it keeps up. */
  behind_since: number | null
  /** When the owners were last told that it falls behind. */
  behind_noticed_at: number | null
  /** JSON of `ChannelTemplate`; null for Towpath's own layout. */
  template: string | null
  /** `hour` or `day`: one message for all that happened in it. */
  digest: string | null
  /** JSON of `QuietHours`. */
  quiet_hours: string | null
  /** Bytes. The files of a submission are attached to a mail while they are no more together. */
  attach_up_to: Generated<number>
  /** 1 where new forms begin with it. */
  all_forms: Generated<number>
  /** A JSON list of `ChannelEvent`; null for submissions alone. */
  events: string | null
  /** JSON of `ChannelFilter`, as it was written. */
  filter: string | null
  /** For channels of type http. */
  method: string | null
  /** JSON of its headers as answers show them: with no value that may be a secret. */
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
  /** `attempts` and `interrupted` of the time before the last retry by hand, which starts both at 0. */
  attempts_before: Generated<number>
  interrupted_before: Generated<number>
  /** Why the last attempt failed, or why the delivery waits; null after a success. */
  last_error: string | null
  /** Null unless it waits, and while a digest sends it. */
  due_at: number | null
  /** The delivery of the digest that sends it, or has sent it. */
  digest_id: number | null
  /** 1 where a person has asked for it: no digest sends it any more. */
  sent_alone: Generated<number>
  /** The report of a view that it sends. */
  report_id: number | null
  /** The process that claimed the delivery has it until this time. After it, another process may claim it. */
  leased_until: number | null
  /** The request that has caused it; null without one, and for deliveries older than this column. */
  request_id: string | null
  /** Its span, where it was traced (W3C Trace Context). */
  traceparent: string | null
  /** JSON of what an event of a link or an outcome says; null for others, and once it is no longer kept. */
  payload: string | null
  created_at: number
  finished_at: number | null
}

/** How far a consumer of events is. Its row moves in the transaction that stores the deliveries. */
export interface EventMarks {
  /** `clicks/<node>`, or `expirations`. */
  consumer: string
  /** The last batch of the node that is consumed as a whole; or the time up to which links that expired are consumed. */
  position: number
  /** The last hit of the batch after it that is consumed; or the last link of that time. 0 for none. */
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

/** An address that email channels of a workspace name. It gets notifications from its confirmation on. */
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
