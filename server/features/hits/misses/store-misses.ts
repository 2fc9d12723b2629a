// The rows of misses: how often people and robots asked for a slug that no link has, by domain and hour.

import { sql } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'

/** Counts to add to a row. */
export interface MissCount {
  domain: string
  /** The domain's workspace; 0 on the default domain. */
  workspaceId: number
  /** The start of the hour, milliseconds. */
  hour: number
  /** Folded for matching, or OTHER_SLUGS. */
  slug: string
  hits: number
  visitors: number
  bots: number
  lastAt: number
}

/** The row of all slugs of an hour without a separate row. No slug is empty. */
export const OTHER_SLUGS = ''

/** Adds counts to their rows, in one transaction. */
export async function storeMisses(db: Database, counts: MissCount[]): Promise<void> {
  // One order everywhere: otherwise two processes could each wait for a row that the other holds.
  const sorted = counts.toSorted(
    (a, b) => a.hour - b.hour || compare(a.domain, b.domain) || compare(a.slug, b.slug),
  )
  await db.write((connection) => addMisses(connection, sorted))
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

async function addMisses(connection: Connection, counts: MissCount[]): Promise<void> {
  await connection
    .insertInto('misses')
    .values(
      counts.map(({ lastAt, workspaceId, ...count }) => ({
        ...count,
        workspace_id: workspaceId,
        last_at: lastAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['domain', 'hour', 'slug']).doUpdateSet({
        workspace_id: sql`excluded.workspace_id`,
        hits: sql`${KEPT} * misses.hits + excluded.hits`,
        visitors: sql`${KEPT} * misses.visitors + excluded.visitors`,
        bots: sql`${KEPT} * misses.bots + excluded.bots`,
        last_at: sql`case when misses.last_at < excluded.last_at then excluded.last_at else misses.last_at end`,
      }),
    )
    .execute()
}

/** 0 for rows of a former holder of the domain: the new one must not see its counts. */
const KEPT = sql`(case when misses.workspace_id = excluded.workspace_id then 1 else 0 end)`

/** The slugs of an hour with a separate row. */
export const listSlugsOfHour = (db: Database, hour: number) =>
  db.read
    .selectFrom('misses')
    .select(['domain', 'slug'])
    .where('hour', '=', hour)
    .where('slug', '!=', OTHER_SLUGS)
    .execute()
