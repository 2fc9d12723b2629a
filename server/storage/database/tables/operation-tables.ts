// Tables of the server itself: repeated requests, deletions of workspaces, shared rate limits.

import type { Generated } from 'kysely'

export interface IdempotencyKeys {
  workspace_id: number
  key: string
  path: string
  body_hash: string
  status: number
  body: string
  created_at: number
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

/**
 * A link or workspace that the operator has suspended or restored. Servers of the release before read it; this release
 * reads `changes`. The next release drops the table.
 */
export interface SuspensionChanges {
  id: Generated<number>
  /** `link` or `workspace`. */
  kind: string
  target_id: number
  at: number
}

/** A table whose rows up to an id still have the form of an earlier release. The job that changes them deletes this row. */
export interface OpenNames {
  table_name: string
  through: number
}

/** Requests for an unknown slug in one hour. */
export interface Misses {
  domain: string
  /** The workspace that had the domain at that time; 0 on the default domain. */
  workspace_id: Generated<number>
  /** The start of the hour, milliseconds. */
  hour: number
  /** In the form for matching; '' for the slugs that share a row. */
  slug: string
  /** Requests of people. */
  hits: number
  /** People, each counted once a day for a slug. */
  visitors: number
  /** Requests of robots, prefetches and HEAD requests. */
  bots: number
  last_at: number
}

/** Slugs that the owners of a workspace got a mail about in the last day. */
export interface MissingReports {
  workspace_id: number
  domain: string
  slug: string
  /** The time of the mail, the same for all of its slugs. */
  reported_at: number
}

/** Rate limits that processes share: PostgreSQL only. With SQLite the limits are in memory. */
export interface RateLimits {
  key: string
  /** The base time, in milliseconds of the database's clock. */
  since: number
  /** The times in the window, oldest first, in milliseconds since `since`. */
  hits: number[]
  /** 1 if the newest request was within the limit. */
  allowed: number
  expires_at: number
}

/** Limits of bytes that processes share: PostgreSQL only. 0.1.0 also has its rate limits here. */
export interface RateWindows {
  key: string
  /** Pairs of a time slice and its bytes. */
  hits: number[]
  /** 1 if the newest request was within the limit. */
  allowed: number
  expires_at: number
}

/** The number of mails on a day (UTC). */
export interface MailCounts {
  /** Days since 1970. */
  day: number
  /** All mails, including those about accounts. */
  sent: number
  sign_ups: Generated<number>
  notifications: Generated<number>
  confirmations: Generated<number>
  replies: Generated<number>
}

/** The number of a workspace's mails on a day (UTC). */
export interface MailShares {
  day: number
  workspace_id: number
  notifications: Generated<number>
  confirmations: Generated<number>
  replies: Generated<number>
}

/** An entry of the chain of proofs of a workspace. */
export interface DayProofs {
  id: Generated<number>
  workspace_id: number
  /** UTC, `2026-01-31`. */
  day: string
  /** `closed`, `changed` or `expired`. */
  kind: string
  reason: string | null
  hits: number
  removed: number | null
  /** SHA-256 of the figures of the day. */
  digest: string
  /** '' for the first entry. */
  previous_hash: string
  /** SHA-256 of all columns but the id. */
  hash: string
  created_at: number
}
