// The data model on one screen. Times are integer milliseconds, booleans 0 or 1, structured values JSON text: the
// same words on SQLite and PostgreSQL.

import type { Generated } from 'kysely'

export interface Workspaces {
  id: Generated<number>
  /** What the snippet names the workspace by; not guessable from the id. */
  public_id: string
  name: string
  plan: string
  created_at: number
  updated_at: number
}

export interface ApiKeys {
  id: Generated<number>
  workspace_id: number
  name: string
  /** SHA-256 of the key in hex: the key itself is shown once and kept nowhere. */
  hash: string
  last_four: string
  created_at: number
  last_used_at: number | null
  revoked_at: number | null
}

/** A person. */
export interface Users {
  id: Generated<number>
  /** Lower case. */
  email: string
  name: string
  email_verified: Generated<number>
  image: string | null
  /** 1 for the first of all, who needed no invitation; unique, so there is one at most. */
  founder: number | null
  created_at: number
  updated_at: number
}

export interface Sessions {
  id: Generated<number>
  user_id: number
  /** SHA-256 of what the cookie holds. */
  token: string
  expires_at: number
  /** Always null: no address is kept. Better Auth's model has the field. */
  ip_address: string | null
  user_agent: string | null
  created_at: number
  updated_at: number
}

/** A way of a person to sign in: a password (provider `credential`), or an account elsewhere. Better Auth's `account`. */
export interface Identities {
  id: Generated<number>
  user_id: number
  account_id: string
  provider_id: string
  access_token: string | null
  refresh_token: string | null
  id_token: string | null
  access_token_expires_at: number | null
  refresh_token_expires_at: number | null
  scope: string | null
  /** Argon2id. */
  password: string | null
  created_at: number
  updated_at: number
}

/** What was sent out and must come back once: links to reset a password, the state of a sign-in elsewhere. */
export interface Verifications {
  id: Generated<number>
  identifier: string
  value: string
  expires_at: number
  created_at: number
  updated_at: number
}

export interface Members {
  workspace_id: number
  user_id: number
  /** `owner` or `member`. */
  role: string
  created_at: number
}

export interface Invitations {
  id: Generated<number>
  workspace_id: number
  /** Lower case: whom it is for, and for nobody else. */
  email: string
  role: string
  /** SHA-256 of the token in hex; the token is in the link alone. */
  token_hash: string
  invited_by: number | null
  created_at: number
  expires_at: number
  accepted_at: number | null
}

export interface Links {
  id: Generated<number>
  workspace_id: number
  /** '' is the instance's default domain, whatever its name is today. */
  domain: string
  slug: string
  /** The slug as it is matched: NFC, lower case. Unique with the domain among links that are not deleted. */
  slug_key: string
  destination_url: string
  title: string | null
  comments: string | null
  external_id: string | null
  archived: number
  starts_at: number | null
  expires_at: number | null
  expired_url: string | null
  click_limit: number | null
  /** Human clicks that have used up `click_limit`; counted before the redirect is answered, so never over it. */
  clicks_used: number
  lead_limit: number | null
  /** Argon2id; write-only. */
  password_hash: string | null
  forward_query: number
  track_conversions: number
  geo_targeting: string
  device_targeting: string
  redirect_status: number
  clicks: number
  leads: number
  last_clicked_at: number | null
  /** Slug, destination and title, lower case: what `search` looks in. */
  search_text: string
  created_at: number
  updated_at: number
  /** A deleted link stays as a name for its clicks; its slug and external id are free again. */
  deleted_at: number | null
}

export interface Tags {
  id: Generated<number>
  workspace_id: number
  name: string
  /** Lower-case name: unique in the workspace. */
  name_key: string
  color: string
  created_at: number
}

export interface LinkTags {
  link_id: number
  tag_id: number
  workspace_id: number
}

export interface IdempotencyKeys {
  workspace_id: number
  key: string
  path: string
  body_hash: string
  status: number
  body: string
  created_at: number
}

/** How far the batches of each node's spool have been added to the links' counters. */
export interface ClickMarks {
  node: string
  batch: number
}

/** A workspace that was deleted, for the processes that still know its links and have its hits. Its id is all that stays. */
export interface Erasures {
  workspace_id: number
  requested_at: number
}

/** Which node has removed what it had of a deleted workspace. */
export interface ErasureMarks {
  workspace_id: number
  node: string
  done_at: number
}

export interface Forms {
  id: Generated<number>
  workspace_id: number
  /** What the form's `action` names it by; unique in the whole instance. */
  form_key: string
  name: string
  enabled: Generated<number>
  /** A list of names. */
  required_fields: Generated<string>
  redirect_url: string | null
  captcha: Generated<number>
  success_message: string | null
  /** A list of origins; empty is any. */
  allowed_origins: Generated<string>
  /** A list of ids. */
  channel_ids: Generated<string>
  created_at: number
  updated_at: number
}

export interface Submissions {
  id: Generated<number>
  workspace_id: number
  form_id: number
  /** A list of [name, value]: an object would not keep the sender's order (`"10"` before `"b"`). */
  fields: string
  /** All values, lower case: what `search` looks in. */
  search_text: string
  status: Generated<string>
  notes: string | null
  email: string | null
  /** Keyed hash of form, address and fields under the day's salt: what makes two submissions identical. */
  fingerprint: string
  duplicate_of: number | null
  /** The visitor id of the day, as hits have it (a decimal number of 64 bits). */
  visitor: string | null
  link_id: number | null
  click_id: string | null
  event_id: string | null
  session_linked: Generated<number>
  attribution: Generated<string>
  /** 1 until somebody has looked whether the visitor had clicked a link (`features/attribution/infer-clicks.ts`). */
  attribution_due: Generated<number>
  /** Host the visitor came from. */
  referrer: string | null
  page_url: string | null
  landing_url: string | null
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

/** What brought a submission: its first touch at position 0, its last one at the highest. */
export interface Touches {
  submission_id: number
  position: number
  /** How many the submission has: each one's part in a linear model. */
  touches: number
  workspace_id: number
  at: number
  /** `click`, `campaign`, `referrer` or `direct`. */
  kind: string
  link_id: number | null
  click_id: string | null
  referrer: string | null
  landing_url: string | null
  utm_source: string | null
  utm_medium: string | null
  utm_campaign: string | null
  utm_term: string | null
  utm_content: string | null
}

/** Counts only, by UTC day: how attempts to send a form ended. */
export interface FormAttempts {
  form_id: number
  /** `2026-01-31` */
  day: string
  outcome: string
  /** Which field was wrong; '' where the outcome is not about one. */
  field: string
  attempts: number
}

export interface Channels {
  id: Generated<number>
  workspace_id: number
  /** `email`, `slack`, `discord`, `telegram`, `teams` or `webhook`. */
  type: string
  name: string
  /** A list of e-mail addresses. */
  recipients: Generated<string>
  /** The URL as answers show it. */
  shown_url: string | null
  /** Telegram's. */
  chat_id: string | null
  /** URL, bot token and signing secrets, encrypted. */
  sealed: string | null
  enabled: Generated<number>
  disabled_reason: string | null
  /** Since when nothing but failures. */
  failing_since: number | null
  /** The service asked not to be called before. */
  paused_until: number | null
  last_delivery_at: number | null
  created_at: number
  updated_at: number
}

/** One notification on its way to one channel. */
export interface Deliveries {
  id: Generated<number>
  workspace_id: number
  channel_id: number
  /** Absent for a test. */
  submission_id: number | null
  /** `submission.created` or `test`. */
  event: string
  /** The same over all attempts. */
  message_id: string
  /** `waiting`, `delivered` or `failed`. */
  status: string
  /** Counted when one begins. */
  attempts: Generated<number>
  /** Those of them that ended with the process. */
  interrupted: Generated<number>
  due_at: number | null
  /** Who took it has until then; then another may. */
  leased_until: number | null
  created_at: number
  finished_at: number | null
}

export interface DeliveryAttempts {
  id: Generated<number>
  delivery_id: number
  workspace_id: number
  attempt: number
  outcome: string
  http_status: number | null
  /** Its first kilobyte. */
  answer: string | null
  took_ms: number
  at: number
}

/** Captcha tokens that were spent, by their hash, until they would have expired anyway. */
export interface CaptchaTokens {
  token: string
  expires_at: number
}

export interface VisitorSalts {
  /** UTC day, `2026-01-31`. */
  day: string
  salt: string
}

/** PostgreSQL only: all processes share these windows; on one machine they live in memory. */
export interface RateWindows {
  key: string
  /** Times of the requests in the window, microseconds. */
  hits: number[]
  /** 1 when the newest request was within the limit. */
  allowed: number
  expires_at: number
}

export interface Tables {
  workspaces: Workspaces
  api_keys: ApiKeys
  users: Users
  sessions: Sessions
  identities: Identities
  verifications: Verifications
  members: Members
  invitations: Invitations
  links: Links
  tags: Tags
  link_tags: LinkTags
  idempotency_keys: IdempotencyKeys
  click_marks: ClickMarks
  forms: Forms
  submissions: Submissions
  touches: Touches
  form_attempts: FormAttempts
  channels: Channels
  deliveries: Deliveries
  delivery_attempts: DeliveryAttempts
  captcha_tokens: CaptchaTokens
  erasures: Erasures
  erasure_marks: ErasureMarks
  visitor_salts: VisitorSalts
  rate_windows: RateWindows
}
