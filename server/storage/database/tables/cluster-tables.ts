// Tables of the cluster: the shared knowledge of several processes on one database.

import type { Generated } from 'kysely'

/** Facts of the whole installation: one row, which the migration makes. */
export interface Instance {
  /** Always 1. */
  id: number
  /** A random name. The hit store keeps it too, so that two installations never share one. */
  name: string
  /** Shows whether two secrets are equal, and reveals nothing else; null until the first start on PostgreSQL. */
  secret_fingerprint: string | null
  /** The oldest release that can use the rows: the name of the last migration that it must know. */
  floor: string
}

/** One process with its own data directory. Times are milliseconds of the database's clock. */
export interface Nodes {
  node: string
  /** A random name of the running process. A process that takes the node over writes its own name. */
  process: string
  /** Boot id, device and inode of the node's directory; null if the system does not have them. */
  place: string | null
  version: string
  /** `duckdb` or `clickhouse`. */
  hit_store: string
  /** JSON: the settings that should be equal on all nodes. */
  settings: string
  started_at: number
  /** The last heartbeat. */
  seen_at: number
  /** The hit store's answers include every hit that this node recorded before this time (the node's clock). */
  shipped_until: number
  /** When it stopped in order, after it had shipped all hits; null while it runs, and after a crash. */
  left_at: number | null
}

/** A file for browsers that a release has built. PostgreSQL only: with SQLite there is one server. */
export interface BuiltFiles {
  /** `dashboard` or `snippet`. */
  kind: string
  /** Contains the hash of the content. */
  name: string
  gzip: Buffer
  /** When a server last marked the file as used. */
  seen_at: number
}

/** The exclusive right of one node to do a job until a time. */
export interface Leases {
  name: string
  node: string
  /** Milliseconds of the database's clock. */
  until: number
}

/**
 * A link or a workspace that a transaction has changed (record-change.ts). Every process reads the rows of the last
 * minutes, and invalidates its cache entries for the link or workspace.
 */
export interface Changes {
  /** In the order of the inserts. Transactions may commit in another order. */
  seq: Generated<number>
  /** With `slug_key`; null for a change of a workspace. */
  domain: string | null
  slug_key: string | null
  workspace_id: number | null
  /** Milliseconds of the database's clock. */
  at: Generated<number>
}
