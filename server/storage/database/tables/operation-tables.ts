// What the server keeps for itself: repeated requests, deletions of workspaces, shared rate limits.

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
 * A link or workspace that the operator has suspended or restored. Servers that run read it, and drop what their caches
 * hold of the link or workspace. The rows of the last day stay.
 */
export interface SuspensionChanges {
  id: Generated<number>
  /** `link` or `workspace`. */
  kind: string
  target_id: number
  at: number
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
