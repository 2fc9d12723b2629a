// Click totals of other tools. `links.clicks` includes `links.clicks_before`: the part of the total that no imported
// click accounts for.

import { sql } from 'kysely'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import type { DatabaseEngine } from '../../../storage/database/database.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { ImportPlace } from './messages.ts'
import { inStatements, toNumberTable } from './row-lists.ts'

export type LinkTotal = [linkId: number, total: number]

/**
 * Stores the click totals that another tool reports, and adjusts `clicks_before` of the links. If a link has several
 * totals, the highest counts. Call this in the transaction that creates the links.
 */
export async function storeTotals(
  engine: DatabaseEngine,
  connection: Connection,
  { workspaceId, importId }: ImportPlace,
  totals: readonly LinkTotal[],
): Promise<void> {
  for (const some of inStatements(engine, totals)) {
    const listed = toNumberTable(engine, ['link_id', 'total'], some)
    await sql`insert into import_totals (import_id, workspace_id, link_id, total)
      select ${sql.lit(importId)}, ${sql.lit(workspaceId)}, link_id, total from ${listed} as listed where true
      on conflict (import_id, link_id) do update set total = excluded.total`.execute(connection)
    await adjustClicksBefore(
      engine,
      connection,
      workspaceId,
      some.map(([linkId]) => linkId),
    )
    await nextTurn()
  }
}

/** Subtracts newly imported clicks from the `clicks_before` of their links, so that no click counts twice. */
export async function replaceClicksBefore(
  engine: DatabaseEngine,
  connection: Connection,
  workspaceId: number,
  clicks: readonly (readonly [linkId: number, clicks: number])[],
): Promise<void> {
  const less =
    engine === 'sqlite' ? sql`min(links.clicks_before, added)` : sql`least(links.clicks_before, added)`
  const listed = toNumberTable(engine, ['link_id', 'added'], clicks)
  await sql`update links set clicks = links.clicks - ${less}, clicks_before = links.clicks_before - ${less}
    from ${listed} as listed
    where links.id = listed.link_id and +links.workspace_id = ${sql.lit(workspaceId)} and +links.clicks_before > 0`.execute(
    connection,
  )
}

/** Recomputes the `clicks_before` of these links. */
export async function adjustClicksBefore(
  engine: DatabaseEngine,
  connection: Connection,
  workspaceId: number,
  linkIds: readonly number[],
): Promise<void> {
  const workspace = sql.lit(workspaceId)
  const listed = toNumberTable(
    engine,
    ['link_id'],
    linkIds.map((id) => [id]),
  )
  await sql`update links set clicks = links.clicks + missing - links.clicks_before, clicks_before = missing
    from (
      select link_id, case when total > brought then total - brought else 0 end as missing from (
        select link_id,
          coalesce((select max(total) from import_totals
            where workspace_id = ${workspace} and import_totals.link_id = listed.link_id), 0) as total,
          coalesce((select sum(clicks) from import_days
            where workspace_id = ${workspace} and import_days.link_id = listed.link_id), 0) as brought
        from ${listed} as listed
      ) as summed
    ) as counted
    where links.id = counted.link_id and +links.workspace_id = ${workspace} and +links.clicks_before <> missing`.execute(
    connection,
  )
}
