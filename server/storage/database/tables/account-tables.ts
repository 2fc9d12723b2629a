// People, workspaces, API keys, and the data for signing in.

import type { Generated } from 'kysely'

export interface Workspaces {
  id: Generated<number>
  /** Names the workspace in the snippet. It cannot be guessed from the id. */
  public_id: string
  name: string
  plan: string
  /** 1: members without a second factor are refused. */
  require_two_factor: Generated<number>
  /** Owners get a mail when people ask for an unknown slug more often than this in 24 hours; null is never. */
  missing_report_above: number | null
  /** 1: the destinations of its links are checked daily. */
  watch_destinations: Generated<number>
  /** JSON of `Brand`. */
  brand: string | null
  /** JSON list of the names of query parameters that clicks keep; null without one. */
  kept_params: string | null
  /** JSON list of the networks whose hits are internal; null without one. */
  internal_networks: string | null
  /** JSON list of the hosts whose hits are spam; null without one. */
  ignored_referrers: string | null
  created_at: number
  updated_at: number
  /** When the operator suspended it; null while it is not suspended. */
  suspended_at: number | null
  /** Shown to the people who own it. */
  suspended_reason: string | null
}

/** The logos of a workspace's brand and of its forms' brands. */
export interface BrandLogos {
  workspace_id: number
  /** The hash of the content, which is also the name of the logo. */
  hash: string
  /** Base64. */
  png: string
  created_at: number
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
  /** `*`, or scopes separated by commas. */
  scopes: Generated<string>
  expires_at: number | null
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
  /** When the operator suspended it; null while it is not suspended. */
  suspended_at: number | null
  /** Shown to the people who own it. */
  suspended_reason: string | null
  /** The language of the dashboard, such as `de`; null: the browser's. */
  language: string | null
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
  /** 1 between the password and the second factor. Such a session gives access to nothing else. */
  awaits_second_factor: Generated<number>
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

/** The secret that a person's authenticator app shares with the server. */
export interface TotpSecrets {
  user_id: number
  /** Base32, sealed with a key of `TOWPATH_SECRET`. */
  secret: string
  /** The time step of the newest code that was used. A code of this step or an earlier one is refused. */
  last_step: Generated<number>
  created_at: number
  /** null until the person has typed a first code; until then the secret does not count as a factor. */
  confirmed_at: number | null
}

/** Codes for a person who has lost their other second factors. The use of a code deletes its row. */
export interface RecoveryCodes {
  id: Generated<number>
  user_id: number
  /** HMAC-SHA256 of the code, with a key of `TOWPATH_SECRET`: 50 random bits are too few for a plain hash. */
  hash: string
  created_at: number
}

/** A public key of a person's device or security key (WebAuthn). */
export interface Passkeys {
  id: Generated<number>
  user_id: number
  name: string
  /** base64url, as browsers send it. */
  credential_id: string
  /** COSE key as base64url. */
  public_key: string
  /** The device's count of uses; 0 if it does not count. A lower number than before means a copied key. */
  sign_count: number
  /** JSON: the connections of the device, such as `["internal"]`. */
  transports: string
  created_at: number
  last_used_at: number | null
}

export interface Members {
  workspace_id: number
  user_id: number
  /** `owner`, `member` or `viewer`. */
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

/** The audit log of a workspace. Triggers refuse changes, and deletions within 180 days. */
export interface AuditEvents {
  id: Generated<number>
  workspace_id: number
  at: number
  /** `person`, `key`, `operator`, `system` or `unknown`. */
  actor_type: string
  /** The id of the person or the key. */
  actor_id: number | null
  /** The email address of the person or the name of the key, at that time. */
  actor_name: string | null
  action: string
  target_type: string | null
  target_id: string | null
  target_name: string | null
  /** A JSON object without secrets, and without texts of visitors. */
  detail: string
}
