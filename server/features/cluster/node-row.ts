// The row of a node in the table of all nodes.

import { sql } from 'kysely'
import type { Connection } from '../../storage/database/open-database.ts'
import { DATABASE_CLOCK } from './database-clock.ts'

export type HitStore = 'duckdb' | 'clickhouse'

/** The settings that should be equal on all nodes, by name, without secrets. */
export type SharedSettings = Record<string, string>

export interface NodeFacts {
  node: string
  /** A random name of this process. */
  process: string
  /** See readPlace. */
  place: string | undefined
  version: string
  hitStore: HitStore
  settings: SharedSettings
  /** All hits of the node so far are in the hit store, because it has none yet. */
  isEmpty: boolean
}

/** Held while a node joins, so that of two that start at once the second sees the first. Any number that is ours. */
const JOIN_LOCK = 7_405_182_277_001
/** After this time without a heartbeat a node counts as ended: it has missed five. */
const SILENT_MS = 3_000

/** Until the end of the transaction, no other node joins. */
export async function lockJoining(connection: Connection): Promise<void> {
  await sql`select pg_advisory_xact_lock(${JOIN_LOCK}::bigint)`.execute(connection)
}

/** The nodes that run now, also this one. */
export const listLiveNodes = (connection: Connection) =>
  connection
    .selectFrom('nodes')
    .selectAll()
    .where('left_at', 'is', null)
    .where('seen_at', '>', sql<number>`${DATABASE_CLOCK} - ${SILENT_MS}::bigint`)
    .orderBy('node')
    .execute()

/**
 * Creates the row, or takes it over from an earlier process of the node. The earlier process's shipping mark stays
 * valid: later hits wait in the directory.
 */
export async function storeNode(connection: Connection, facts: NodeFacts, now: number): Promise<void> {
  const { node, process, place = null, version, hitStore, settings, isEmpty } = facts
  await sql`insert into nodes
      (node, process, place, version, hit_store, settings, started_at, seen_at, shipped_until, left_at)
    values (${node}, ${process}, ${place}, ${version}, ${hitStore}, ${JSON.stringify(settings)},
      ${DATABASE_CLOCK}, ${DATABASE_CLOCK}, ${isEmpty ? now : 0}, null)
    on conflict (node) do update set process = excluded.process, place = excluded.place,
      version = excluded.version, hit_store = excluded.hit_store, settings = excluded.settings,
      started_at = excluded.started_at, seen_at = excluded.seen_at, left_at = null,
      shipped_until = case when nodes.left_at is null then nodes.shipped_until else ${now}::bigint end`.execute(
    connection,
  )
}

/** `everythingShipped`: other nodes need not wait for hits of this node any more. */
export async function markLeft(
  connection: Connection,
  { node, process }: NodeFacts,
  everythingShipped: boolean,
): Promise<void> {
  const leftAt = everythingShipped ? DATABASE_CLOCK : sql`null`
  await sql`update nodes set seen_at = ${DATABASE_CLOCK}, left_at = ${leftAt}
    where node = ${node} and process = ${process}`.execute(connection)
}

const LEFT_KEPT_MS = 60 * 60_000
const SILENT_KEPT_MS = 30 * 24 * 60 * 60_000

/** Deletes the rows of nodes that left an hour ago, or were not seen for 30 days. */
export async function deleteOldNodes(connection: Connection): Promise<void> {
  await sql`delete from nodes
    where left_at < ${DATABASE_CLOCK} - ${LEFT_KEPT_MS}::bigint
      or seen_at < ${DATABASE_CLOCK} - ${SILENT_KEPT_MS}::bigint`.execute(connection)
}
