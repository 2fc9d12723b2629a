// Deletes counts of unknown slugs after the retention of hits. Strangers choose the slugs, so the number of rows is limited:
// above the limit, old rows are merged into their hour's shared row.

import { sql } from 'kysely'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'
import { OTHER_SLUGS } from './store-misses.ts'

export interface PruneMissesNeeds {
  db: Database
  now: number
  /** Rows before this moment are deleted; 0 without a retention. */
  since: number
  rowsMax?: number
}

/** About 60 MB with slugs of usual length, 150 MB with the longest ones. */
const ROWS_MAX = 250_000

/** Works through one hour at a time, because a long write would delay redirects. */
export async function pruneMisses({ db, now, since, rowsMax = ROWS_MAX }: PruneMissesNeeds): Promise<void> {
  await pruneInSlices(db, 'misses', sql`hour < ${since}`)
  await eraseLeftMisses(db)
  let excess = (await countRows(db)) - rowsMax
  // Slugs with one request are nearly always guesses. If merging them is not enough, all slugs of old hours are merged.
  for (const requestsMax of [1, Number.MAX_SAFE_INTEGER]) {
    let hour = excess > 0 ? await findOldestHour(db, 0) : undefined
    while (excess > 0 && hour !== undefined && hour < now - DAY_MS) {
      excess -= await foldHour(db, hour, requestsMax)
      hour = await findOldestHour(db, hour + 1)
    }
  }
}

/**
 * Erases the counts of unknown slugs on domains that a workspace no longer has: it was deleted, it deleted the
 * domain, or it lost the domain.
 */
async function eraseLeftMisses(db: Database): Promise<void> {
  for (const { domain, holder, until } of await listLeftDomains(db.read)) {
    const left = holder === null ? sql`` : sql`and hour <= ${until} and workspace_id <> ${holder}`
    await pruneInSlices(db, 'misses', sql`domain = ${domain} ${left}`)
  }
}

interface LeftDomain {
  domain: string
  /** The domain's current workspace; null without one. */
  holder: number | null
  /** When the holder got the domain. All later counts belong to the holder. */
  until: number | null
}

/** Steps on the index from domain to domain, so that it reads no counts. */
async function listLeftDomains(connection: Connection): Promise<LeftDomain[]> {
  const { rows } = await sql<LeftDomain>`
    with recursive counted (name) as (
      select min(domain) from misses where domain > ''
      union all
      select (select min(domain) from misses where domain > counted.name) from counted where name is not null
    )
    select counted.name as domain, workspace_id as holder, verified_at as until from counted
    left join domains on domains.domain = counted.name and verified_at is not null
    where counted.name is not null and (domains.id is null or exists (
      select 1 from misses
      where misses.domain = counted.name and hour <= verified_at and misses.workspace_id <> domains.workspace_id
    ))`.execute(connection)
  return rows
}

async function findOldestHour(db: Database, from: number): Promise<number | undefined> {
  const oldest = await db.read
    .selectFrom('misses')
    .select((e) => e.fn.min('hour').as('hour'))
    .where('hour', '>=', from)
    .executeTakeFirst()
  return oldest?.hour ?? undefined
}

async function countRows(db: Database): Promise<number> {
  const { rows } = await db.read
    .selectFrom('misses')
    .select((e) => e.fn.countAll().as('rows'))
    .executeTakeFirstOrThrow()
  return Number(rows)
}

/** Merges the slugs of an hour with few requests into the shared row. @returns the number of removed rows */
function foldHour(db: Database, hour: number, requestsMax: number): Promise<number> {
  return db.write(async (connection) => {
    await addToOthers(connection, hour, requestsMax)
    const { numDeletedRows } = await connection
      .deleteFrom('misses')
      .where('hour', '=', hour)
      .where('slug', '!=', OTHER_SLUGS)
      .where(sql<number>`hits + bots`, '<=', requestsMax)
      .executeTakeFirst()
    return Number(numDeletedRows)
  })
}

async function addToOthers(connection: Connection, hour: number, requestsMax: number): Promise<void> {
  await sql`
    insert into misses (domain, workspace_id, hour, slug, hits, visitors, bots, last_at)
    select domain, max(workspace_id), hour, ${sql.lit(OTHER_SLUGS)}, sum(hits), 0, sum(bots), max(last_at) from misses
    where hour = ${hour} and slug <> ${sql.lit(OTHER_SLUGS)} and hits + bots <= ${requestsMax}
    group by domain, hour
    on conflict (domain, hour, slug) do update set
      hits = misses.hits + excluded.hits,
      bots = misses.bots + excluded.bots,
      last_at = case when misses.last_at < excluded.last_at then excluded.last_at else misses.last_at end`.execute(
    connection,
  )
}
