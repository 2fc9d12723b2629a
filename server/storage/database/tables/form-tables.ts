// Forms, submissions and their touches.

import type { Generated } from 'kysely'

export interface Forms {
  id: Generated<number>
  workspace_id: number
  /** Names the form in the `action` of its HTML; unique on the server. */
  form_key: string
  name: string
  enabled: Generated<number>
  /** A JSON list of field names. */
  required_fields: Generated<string>
  redirect_url: string | null
  /** The page that the form is on. */
  page_url: string | null
  /** `referer` or `hosted`. */
  after_submit: Generated<string>
  /** `referer` or `hosted`. */
  on_error: Generated<string>
  captcha: Generated<number>
  success_message: string | null
  /** A JSON list of origins; an empty list allows any origin. */
  allowed_origins: Generated<string>
  /** Submissions in any minute from one address. Null is 10. */
  per_address: number | null
  /** A JSON list of hosts; with an empty list, `_next` may lead anywhere. */
  next_hosts: Generated<string>
  /** A JSON list of ids. */
  channel_ids: Generated<string>
  /** JSON of `UploadSettings`; null where the form takes no files. */
  uploads: string | null
  /** JSON of `ReplySettings`. */
  reply: string | null
  /** JSON of `SpamSettings`. */
  spam: string | null
  /** Null is 30 days. */
  spam_retention_days: number | null
  /** JSON of `FieldRules`. */
  rules: string | null
  /** JSON of `FieldMessages`. */
  messages: string | null
  /** Null keeps submissions for ever. */
  retention_days: number | null
  /** JSON of `ConsentSettings`. */
  consent: string | null
  /** JSON of `Brand`: what differs from the workspace. */
  brand: string | null
  /** 1 keeps the click ids of ad networks. */
  ad_click_ids: Generated<number>
  /** JSON: labels by the name of the field. */
  field_labels: string | null
  /** JSON list of templates for replies of the team. */
  reply_templates: string | null
  /** Every change of the row raises it. */
  revision: Generated<number>
  created_at: number
  updated_at: number
}

export interface Submissions {
  id: Generated<number>
  workspace_id: number
  form_id: number
  /** A JSON list of [name, value]. An object would lose the sender's order: `"10"` would come before `"b"`. */
  fields: string
  /** All values in lower case, for `search`. */
  search_text: string
  status: Generated<string>
  /** A JSON list of sentences; null where no rule called it spam. */
  spam_reasons: string | null
  /** JSON of the sender's consent: `field`, `text` and `at` in milliseconds. */
  consent: string | null
  /** The language of the sender's page, such as `de`. */
  language: string | null
  /**
   * 0 while it has notified no channel and is no lead, because it came as spam, or the sender has not confirmed it; then 1. 2 is
   * a test of the dashboard, which is never announced.
   */
  announced: Generated<number>
  /** When it was announced, if that was later than its creation. */
  announced_at: number | null
  /** The classifier's example from it: `spam` or `good`, and the numbers of its features. */
  learned: string | null
  /** Seconds between the page view and the submission, if the snippet was on the page. */
  page_seconds: number | null
  notes: string | null
  email: string | null
  /** The time, and an HMAC of form, IP address and fields with the salt of the day. */
  fingerprint: string
  duplicate_of: number | null
  /** The visitor id of the day, as in hits: a decimal number of 64 bits. */
  visitor: string | null
  link_id: number | null
  click_id: string | null
  event_id: string | null
  session_linked: Generated<number>
  attribution: Generated<string>
  /** 1 until a job has searched for an earlier click of the visitor (`features/attribution/infer-clicks.ts`). */
  attribution_due: Generated<number>
  /** Host of the referring page. */
  referrer: string | null
  page_url: string | null
  landing_url: string | null
  /** JSON of `AdClickIds`; null where the form keeps none. */
  ad_click_ids: string | null
  utm_source: string | null
  utm_medium: string | null
  utm_campaign: string | null
  utm_term: string | null
  utm_content: string | null
  device: string | null
  browser: string | null
  os: string | null
  country: string | null
  region: string | null
  city: string | null
  created_at: number
}

/** A file that was sent with a submission. The file store has its bytes. */
export interface SubmissionFiles {
  id: Generated<number>
  workspace_id: number
  submission_id: number
  field: string
  name: string
  type: string
  bytes: number
  sha256: string
  /** Names the file in the file store. */
  key: string
  created_at: number
}

/** The total of a workspace's files. A trigger subtracts deleted ones. */
export interface UploadTotals {
  workspace_id: number
  files: Generated<number>
  bytes: Generated<number>
}

/** Files whose rows are deleted. A trigger inserts them, and a job deletes them from the file store. */
export interface ErasedFiles {
  key: string
  bytes: number
}

/** Receipts of erasures, one for each erased email address. */
export interface ErasureReceipts {
  id: Generated<number>
  workspace_id: number
  /** A keyed hash of the address in lower case. */
  email_hash: string
  started_at: number
  /** Null while the erasure runs, or was interrupted. */
  finished_at: number | null
  submissions: Generated<number>
  files: Generated<number>
  deliveries: Generated<number>
  replies: Generated<number>
}

/** The last reply of a form to an address, which gets one a day. */
export interface Replies {
  form_id: number
  /** HMAC of the mailbox (`forms/replies/mailbox.ts`). */
  address: string
  workspace_id: number
  queued_at: number
  /** 1 where the mail asks for a confirmation. */
  confirms: Generated<number>
}

/** An address that has unsubscribed from the workspace's replies. */
export interface ReplyStops {
  workspace_id: number
  /** As in `replies`. */
  address: string
  stopped_at: number
}

/** A touch before a submission. The first touch has position 0; the last one has the highest position. */
export interface Touches {
  submission_id: number
  position: number
  /** The number of touches of the submission. The linear attribution model divides by it. */
  touches: number
  workspace_id: number
  at: number
  /** `click`, `campaign`, `referrer` or `direct`. */
  kind: string
  link_id: number | null
  click_id: string | null
  /** The label of the variant that a split has chosen for the click. */
  variant: string | null
  referrer: string | null
  landing_url: string | null
  utm_source: string | null
  utm_medium: string | null
  utm_campaign: string | null
  utm_term: string | null
  utm_content: string | null
}

/** The assignee of a submission. The row is deleted with the member and with the submission. */
export interface SubmissionAssignees {
  submission_id: number
  workspace_id: number
  user_id: number
}

/** A reply of the team to the sender. The row is deleted with its submission. */
export interface TeamReplies {
  id: Generated<number>
  workspace_id: number
  submission_id: number
  /** The message id of its delivery, which belongs to the same submission; null for an imported reply. */
  message_id: string | null
  /** Only for an imported reply, whose delivery was on another server. */
  status: string | null
  /** The name of the member at that time. */
  author: string | null
  /** The address of the member, which gets answers if the brand has no `replyTo`. */
  reply_to: string | null
  subject: string
  text: string
  created_at: number
}

/** An outcome of a lead. The row is deleted with its submission. */
export interface Outcomes {
  id: Generated<number>
  workspace_id: number
  submission_id: number
  /** One of `OUTCOME_STAGES`. */
  stage: string
  /** Decimal text, as `toDecimalText` writes it: no engine computes with it. */
  value: string | null
  /** ISO 4217. */
  currency: string | null
  at: number
  external_id: string | null
  created_at: number
  updated_at: number
}

/**
 * The workspace of each form key. It stays when the form or the workspace is deleted, because pages can use a key for years,
 * and their leads must not go to others. A trigger writes the row when a form is inserted.
 */
export interface FormKeys {
  form_key: string
  workspace_id: number
}

/** Counts of attempts to send a form, by UTC day and outcome. */
export interface FormAttempts {
  form_id: number
  /** `2026-01-31` */
  day: string
  outcome: string
  /** The wrong field; '' when the outcome is not about a field. */
  field: string
  attempts: number
}

/** Hashes of used captcha tokens, until the tokens expire. */
export interface CaptchaTokens {
  token: string
  expires_at: number
}

/** The number of examples of a workspace's classifier. */
export interface SpamTotals {
  workspace_id: number
  spam: Generated<number>
  good: Generated<number>
  /** Increases with each change of the counts and of the allowed senders. */
  revision: Generated<number>
}

/** The number of submissions of each kind with a feature. */
export interface SpamWords {
  workspace_id: number
  /** A part of the feature's HMAC: the word itself is not stored. */
  word: number
  spam: number
  good: number
}

/** Their submissions are never spam. */
export interface AllowedSenders {
  id: Generated<number>
  workspace_id: number
  /** `ada@example.com` or `*@example.com`, in lower case. */
  address: string
  created_at: number
}
