// Stores the counts of requests for unknown slugs, by people and by robots, per domain and hour.

import { sql } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'

/** Counts to add to a row. */
export interface MissCount {
  domain: string
  /** The domain's workspace; 0 on the default domain. */
  workspaceId: number
  /** The start of the hour, milliseconds. */
  hour: number
  /** In the form for matching, or OTHER_SLUGS. */
  slug: string
  hits: number
  visitors: number
  bots: number
  lastAt: number
}

/** The slug of the shared row of an hour. No real slug is empty. */
export const OTHER_SLUGS = ''

/** Adds counts to their rows, in one transaction. */
export async function storeMisses(db: Database, counts: MissCount[]): Promise<void> {
  // The order is the same in all processes: otherwise two could each wait for a row of the other.
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

/** 0 for rows of a former holder of the domain, whose counts the new holder must not see. */
const KEPT = sql`(case when misses.workspace_id = excluded.workspace_id then 1 else 0 end)`

/** The slugs of an hour with a separate row. */
export const listSlugsOfHour = (db: Database, hour: number) =>
  db.read
    .selectFrom('misses')
    .select(['domain', 'slug'])
    .where('hour', '=', hour)
    .where('slug', '!=', OTHER_SLUGS)
    .execute()
