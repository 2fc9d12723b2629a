// The tables and their columns, the same on SQLite and PostgreSQL. Times are integer milliseconds, booleans are 0 or 1,
// and structured values are JSON text.

import type { Generated } from 'kysely'

export interface Workspaces {
  id: Generated<number>
  /** Names the workspace in the snippet. It cannot be guessed from the id. */
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
  /** SHA-256 of the key in hex. The key itself is shown once and stored nowhere. */
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
  /** 1 for the first user, who needed no invitation; unique, so that only one user can be the first. */
  founder: number | null
  created_at: number
  updated_at: number
}

export interface Sessions {
  id: Generated<number>
  user_id: number
  /** SHA-256 of the session token in hex. The token itself is only in the cookie. */
  token: string
  expires_at: number
  /** Always null: IP addresses are not stored. Better Auth's model needs the column. */
  ip_address: string | null
  user_agent: string | null
  created_at: number
  updated_at: number
}

/**
 * A way for a person to sign in: a password (`credential`) or an account at a provider. Better Auth calls it `account`.
 */
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

/** Values that work once: links to reset a password, and the state of a sign-in at the identity provider. */
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
  /** Lower case. Only a person with this address can accept the invitation. */
  email: string
  role: string
  /** SHA-256 of the token in hex. The token itself is only in the link. */
  token_hash: string
  invited_by: number | null
  created_at: number
  expires_at: number
  accepted_at: number | null
}

export interface Links {
  id: Generated<number>
  workspace_id: number
  /** '' is the server's default domain, so that links keep working after its name has changed. */
  domain: string
  slug: string
  /** The slug for look-ups: NFC, lower case. Unique with the domain among links that are not deleted. */
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
  /**
   * Human clicks that count for `click_limit`. They are counted before the redirect, so the limit is never exceeded.
   */
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
  /** Slug, destination and title in lower case, for `search`. */
  search_text: string
  created_at: number
  updated_at: number
  /** A deleted link stays, so that its clicks keep a name. Its slug and external id are free again. */
  deleted_at: number | null
}

export interface Tags {
  id: Generated<number>
  workspace_id: number
  name: string
  /** The name in lower case; unique in the workspace. */
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

/** The last batch of each node's spool that is in the click counters of the links. */
export interface ClickMarks {
  node: string
  batch: number
}

/** A deleted workspace. Each process reads it to drop the workspace's links and hits. Only the id stays. */
export interface Erasures {
  workspace_id: number
  requested_at: number
}

/** A node that has removed the data of a deleted workspace. */
export interface ErasureMarks {
  workspace_id: number
  node: string
  done_at: number
}

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
  captcha: Generated<number>
  success_message: string | null
  /** A JSON list of origins; an empty list allows any origin. */
  allowed_origins: Generated<string>
  /** A JSON list of ids. */
  channel_ids: Generated<string>
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
  notes: string | null
  email: string | null
  /** HMAC of form, IP address and fields with the salt of the day. Equal fingerprints are duplicates. */
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

/** A touch before a submission. The first touch has position 0; the last one has the highest position. */
export interface Touches {
  submission_id: number
  position: number
  /** How many touches the submission has. The linear attribution model divides by it. */
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

export interface Channels {
  id: Generated<number>
  workspace_id: number
  /** `email`, `slack`, `discord`, `telegram`, `teams` or `webhook`. */
  type: string
  name: string
  /** A JSON list of e-mail addresses. */
  recipients: Generated<string>
  /** The URL in the form that answers show. */
  shown_url: string | null
  /** For Telegram. */
  chat_id: string | null
  /** URL, bot token and signing secrets, encrypted. */
  sealed: string | null
  enabled: Generated<number>
  disabled_reason: string | null
  /** When the first of the current series of failures happened. */
  failing_since: number | null
  /** The service asked for no calls before this time. */
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
  /** Null for a test. */
  submission_id: number | null
  /** `submission.created` or `test`. */
  event: string
  /** The same for all attempts. */
  message_id: string
  /** `waiting`, `delivered` or `failed`. */
  status: string
  /** Counted at the start of each attempt. */
  attempts: Generated<number>
  /** Attempts that ended because the process ended. */
  interrupted: Generated<number>
  due_at: number | null
  /** The process that claimed the delivery has it until this time. After it, another process may claim it. */
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
  /** The first kilobyte of the answer. */
  answer: string | null
  took_ms: number
  at: number
}

/** Hashes of used captcha tokens, until the tokens expire. */
export interface CaptchaTokens {
  token: string
  expires_at: number
}

export interface VisitorSalts {
  /** UTC day, `2026-01-31`. */
  day: string
  salt: string
}

/** PostgreSQL only, where processes share the rate limits. With SQLite the limits are in memory. */
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
