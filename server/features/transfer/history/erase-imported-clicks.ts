// Erases the click history of an undone or canceled import: first its hits, then their additions to the counters of links.
// Each node does this for its own files. An interrupted erasure runs again.

import { sql } from 'kysely'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { ImportedHits, LastClickTime } from '../../../storage/hits/hit-engine.ts'
import { adjustClicksBefore } from './click-totals.ts'
import { toNumberTable } from './row-lists.ts'
import { recoverChunks } from './store-chunk.ts'

export interface HistoryErasureNeeds {
  db: Database
  now: () => number
  /** This node. */
  node: string
  dataDir: string
  eraseImportedHits(hits: ImportedHits): Promise<void>
  findLastClickTimes(workspaceId: number, linkIds: number[]): Promise<LastClickTime[]>
}

/** Links of one transaction. */
const LINKS_AT_ONCE = 50

/**
 * Call it once the row of the import prevents that more chunks are stored.
 * @throws `unavailable` while the engine is unavailable; the erasure is stored, and the job does it later
 */
export async function eraseImportedClicks(needs: HistoryErasureNeeds, hits: ImportedHits): Promise<void> {
  await needs.db.write((connection) =>
    connection
      .insertInto('import_erasures')
      .values({ import_id: hits.importId, workspace_id: hits.workspaceId, requested_at: needs.now() })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
  await eraseHere(needs, hits)
}

/** Erases the histories that this node has not erased yet. */
export async function eraseUndoneHistories(needs: HistoryErasureNeeds): Promise<void> {
  const due = await needs.db.read
    .selectFrom('import_erasures')
    .select(['import_id', 'workspace_id'])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('import_erasure_marks')
            .select('node')
            .where('node', '=', needs.node)
            .whereRef('import_erasure_marks.import_id', '=', 'import_erasures.import_id'),
        ),
      ),
    )
    .orderBy('import_id')
    .execute()
  for (const { import_id: importId, workspace_id: workspaceId } of due)
    await eraseHere(needs, { importId, workspaceId })
}

async function eraseHere(needs: HistoryErasureNeeds, hits: ImportedHits): Promise<void> {
  await recoverChunks(needs, hits.importId)
  await needs.eraseImportedHits(hits)
  while (await lowerCounters(needs, hits)) await nextTurn()
  await needs.db.write(async (connection) => {
    await connection
      .updateTable('imports')
      .set({ first_at: null })
      .where('workspace_id', '=', hits.workspaceId)
      .where('id', '=', hits.importId)
      .execute()
    await connection
      .insertInto('import_erasure_marks')
      .values({ import_id: hits.importId, node: needs.node, done_at: needs.now() })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  })
}

/** Lowers the counters of some links, and deletes the subtracted rows. @returns true if there were any */
async function lowerCounters(
  { db, findLastClickTimes }: HistoryErasureNeeds,
  { workspaceId, importId }: ImportedHits,
): Promise<boolean> {
  const linkIds = await listLinks(db.read, { workspaceId, importId })
  if (linkIds.length === 0) return false
  const times = new Map(await findLastClickTimes(workspaceId, linkIds))
  await db.write(async (connection) => {
    // Another node may lower the same counters. Then no rows are left after the lock.
    if (db.engine === 'postgres') await lockImport(connection, { workspaceId, importId })
    const lowered = await connection
      .selectFrom('import_days')
      .select(({ fn }) => [
        'link_id',
        fn.sum<number>('counted').as('counted'),
        fn.max<number>('last_at').as('last_at'),
      ])
      .where('workspace_id', '=', workspaceId)
      .where('import_id', '=', importId)
      .where('link_id', 'in', linkIds)
      .groupBy('link_id')
      .execute()
    for (const table of ['import_days', 'import_totals'] as const)
      await connection
        .deleteFrom(table)
        .where('workspace_id', '=', workspaceId)
        .where('import_id', '=', importId)
        .where('link_id', 'in', linkIds)
        .execute()
    const changes = lowered.map(
      ({ link_id, counted, last_at }) =>
        [Number(link_id), Number(counted), Number(last_at), times.get(Number(link_id)) ?? 0] as const,
    )
    await moveCounters(db, connection, workspaceId, linkIds)
    const listed = toNumberTable(db.engine, ['link_id', 'counted', 'last_at', 'left_at'], changes)
    // A click that came meanwhile is newer than all clicks of the import.
    await sql`update links set clicks = links.clicks - counted,
        last_clicked_at = case when links.last_clicked_at > last_at then links.last_clicked_at
          when left_at > 0 then left_at end
      from ${listed} as listed
      where links.id = listed.link_id and +links.workspace_id = ${sql.lit(workspaceId)}`.execute(connection)
    await adjustClicksBefore(db.engine, connection, workspaceId, linkIds)
  })
  return true
}

const lockImport = (connection: Connection, { workspaceId, importId }: ImportedHits) =>
  connection
    .selectFrom('imports')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', importId)
    .forNoKeyUpdate()
    .executeTakeFirst()

async function listLinks(read: Connection, { workspaceId, importId }: ImportedHits): Promise<number[]> {
  const { rows } = await sql<{ link_id: number }>`
    select link_id from (
      select link_id from import_days where +workspace_id = ${sql.lit(workspaceId)} and import_id = ${sql.lit(importId)}
      union select link_id from import_totals where +workspace_id = ${sql.lit(workspaceId)} and import_id = ${sql.lit(importId)}
    ) as listed order by link_id limit ${sql.lit(LINKS_AT_ONCE)}`.execute(read)
  return rows.map(({ link_id }) => Number(link_id))
}

/** The newest click of a link may be in the narrow table of counters: see links/counters.ts. */
async function moveCounters(
  { engine }: Database,
  connection: Connection,
  workspaceId: number,
  linkIds: number[],
): Promise<void> {
  if (engine !== 'postgres') return
  await sql`with moved as (
      delete from link_counters where link_id in (
        select link_id from link_counters
        where link_id = any(${linkIds}::bigint[]) and workspace_id = ${sql.lit(workspaceId)} order by link_id for update
      ) returning link_id, clicks, last_clicked_at
    )
    update links set clicks = links.clicks + moved.clicks,
      last_clicked_at = greatest(links.last_clicked_at, moved.last_clicked_at)
    from moved where links.id = moved.link_id and links.workspace_id = ${sql.lit(workspaceId)}`.execute(
    connection,
  )
}
