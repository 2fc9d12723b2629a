// Tables of the cluster: the shared knowledge of several processes on one database.

import type { Generated } from 'kysely'

/** Facts of the whole installation: one row, which the migration makes. */
export interface Instance {
  /** Always 1. */
  id: number
  /** A random name. The hit store keeps it too, so that two installations never share one. */
  name: string
  /** Says whether two secrets are the same, and nothing else about them; null until the first start on PostgreSQL. */
  secret_fingerprint: string | null
  /** The oldest release that may still use the rows: the name of the last migration that it must know. */
  floor: string
}

/** One process with a data directory of its own. All times are of the database's clock, in milliseconds. */
export interface Nodes {
  node: string
  /** A random name of the running process. Another process that takes the node over puts its own here. */
  process: string
  /** The directory of the node on its machine since that started; null where the system does not tell. */
  place: string | null
  version: string
  /** `duckdb` or `clickhouse`. */
  hit_store: string
  /** JSON: the settings that should be equal on all nodes. */
  settings: string
  started_at: number
  /** The last heartbeat. */
  seen_at: number
  /** Every hit that this node recorded before this moment (the node's clock) is in the hit store's answers. */
  shipped_until: number
  /** When it stopped in order, with everything shipped; null while it runs, and after a crash. */
  left_at: number | null
}

/** A file for browsers that a release has built. PostgreSQL only: with SQLite there is one server. */
export interface BuiltFiles {
  /** `dashboard` or `snippet`. */
  kind: string
  /** It has the hash of the content. */
  name: string
  gzip: Buffer
  /** When a server last said that it has the file. */
  seen_at: number
}

/** The right of one node to do something alone for a while. */
export interface Leases {
  name: string
  node: string
  /** Milliseconds of the database's clock. */
  until: number
}

/**
 * A link or a workspace that a transaction has changed (record-change.ts). Every process reads the rows of the last
 * minutes, and drops what its caches hold of the link or workspace.
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
