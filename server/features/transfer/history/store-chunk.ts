// The server's part of a click history: stores the counts of a chunk in one transaction, and then makes its file visible to the
// hit worker. After a kill, `recoverChunks` completes this.

import { sql } from 'kysely'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { log } from '../../../lib/log.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { listPendingImports } from '../../hits/batches/hit-import.ts'
import { deleteHiddenChunk, listHiddenChunks, showChunk } from './chunk-files.ts'
import { replaceClicksBefore } from './click-totals.ts'
import type { AgedClicks, DayAddition, HistoryChunk, ImportPlace, ProblemRow } from './messages.ts'
import { inStatements, toNumberTable } from './row-lists.ts'

/** The most chunks that wait for the hit worker: more would fill the disk and delay the clicks of visitors. */
const WAITING_MAX = 8
const POLL_MS = 50

export interface ChunkNeeds {
  db: Database
  dataDir: string
  /** Ends the wait for the hit worker. */
  signal?: AbortSignal
}

/** The import was undone or canceled. */
export class ImportStopped extends Error {}

/**
 * Resolves once the chunk is stored and visible. A stored chunk is only made visible.
 * @throws ImportStopped
 */
export async function storeChunk(
  { db, dataDir, signal }: ChunkNeeds,
  place: ImportPlace & { dryRun: boolean },
  chunk: HistoryChunk,
): Promise<void> {
  await db.write(async (connection) => {
    if (!(await moveOn(connection, place, chunk))) return
    await storeProblems(connection, place, chunk.problems)
    if (place.dryRun) return
    await storeDays(db, connection, place, chunk.days)
    await countAged(db, connection, place, chunk.aged)
  })
  if (chunk.number === null) return
  await showChunk(dataDir, place.importId, chunk.number)
  while (listPendingImports(dataDir).length > WAITING_MAX) {
    signal?.throwIfAborted()
    await Bun.sleep(POLL_MS)
  }
}

/** @returns false if the chunk is already stored */
async function moveOn(
  connection: Connection,
  { workspaceId, importId }: ImportPlace,
  { number, settled, clicks, firstAt }: HistoryChunk,
): Promise<boolean> {
  const running = await connection
    .selectFrom('imports')
    .select(['position', 'chunks', 'first_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', importId)
    .where('status', '=', 'running')
    .where('stage', '=', 'clicks')
    .executeTakeFirst()
  if (!running) throw new ImportStopped(`Import ${importId} does not run any more`)
  if (running.position >= settled) return false
  if (number !== null && running.chunks !== number - 1)
    throw new Error(`Chunk ${number} of import ${importId} does not follow chunk ${running.chunks}`)
  await connection
    .updateTable('imports')
    .set((e) => ({
      position: settled,
      clicks: e('clicks', '+', clicks),
      ...(number === null ? {} : { chunks: number }),
      ...(firstAt === null || firstAt > (running.first_at ?? firstAt) ? {} : { first_at: firstAt }),
    }))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', importId)
    .execute()
  return true
}

async function storeDays(
  { engine }: Database,
  connection: Connection,
  { workspaceId, importId }: ImportPlace,
  days: readonly DayAddition[],
): Promise<void> {
  const newer = engine === 'sqlite' ? sql.raw('max') : sql.raw('greatest')
  for (const some of inStatements(engine, days)) {
    const listed = toNumberTable(engine, ['link_id', 'day', 'clicks', 'counted', 'last_at'], some)
    await sql`insert into import_days as known (import_id, workspace_id, link_id, day, clicks, counted, last_at)
      select ${sql.lit(importId)}, ${sql.lit(workspaceId)}, link_id, day, clicks, counted, last_at
      from ${listed} as listed where true
      on conflict (import_id, link_id, day) do update set clicks = known.clicks + excluded.clicks,
        counted = known.counted + excluded.counted,
        last_at = ${newer}(known.last_at, excluded.last_at)`.execute(connection)
    await nextTurn()
  }
  const byLink = new Map<number, number>()
  for (const [linkId, , clicks] of days) byLink.set(linkId, (byLink.get(linkId) ?? 0) + clicks)
  for (const some of inStatements(engine, [...byLink])) {
    await replaceClicksBefore(engine, connection, workspaceId, some)
    await nextTurn()
  }
}

/** Counts clicks past their retention on their links, because no engine stores them. */
async function countAged(
  { engine }: Database,
  connection: Connection,
  { workspaceId }: ImportPlace,
  aged: readonly AgedClicks[],
): Promise<void> {
  for (const some of inStatements(engine, aged)) {
    const listed = toNumberTable(engine, ['link_id', 'added', 'last_at'], some)
    await sql`update links set clicks = links.clicks + added,
        last_clicked_at = case when coalesce(links.last_clicked_at, 0) < last_at then last_at else links.last_clicked_at end
      from ${listed} as listed
      where links.id = listed.link_id and +links.workspace_id = ${sql.lit(workspaceId)}`.execute(connection)
    await nextTurn()
  }
}

const PROBLEMS_PER_STATEMENT = 50

async function storeProblems(
  connection: Connection,
  { workspaceId, importId }: ImportPlace,
  problems: readonly ProblemRow[],
): Promise<void> {
  for (let from = 0; from < problems.length; from += PROBLEMS_PER_STATEMENT) {
    const rows = problems.slice(from, from + PROBLEMS_PER_STATEMENT).map((problem) => ({
      import_id: importId,
      workspace_id: workspaceId,
      kind: 'click',
      outcome: 'failed',
      ...problem,
    }))
    await connection.insertInto('import_rows').values(rows).execute()
    await nextTurn()
  }
}

/**
 * Recovers chunks after a kill. If the row of a chunk is not stored, its file is deleted, and the reader creates it again. If the
 * row is stored and the file hidden, the file is made visible. Call it before an import continues, while no reader of it runs.
 */
export async function recoverChunks(
  { db, dataDir }: Pick<ChunkNeeds, 'db' | 'dataDir'>,
  importId: number,
): Promise<void> {
  for (const hidden of await listHiddenChunks(dataDir)) {
    const { number } = hidden
    if (hidden.importId !== importId) continue
    if (await isStored(db.read, importId, number)) await showChunk(dataDir, importId, number)
    else await deleteHiddenChunk(dataDir, hidden)
    log.info('import_chunk_recovered', { import: importId, chunk: number })
  }
}

/** False also if the history is to be erased. */
async function isStored(read: Connection, importId: number, number: number): Promise<boolean> {
  const row = await read
    .selectFrom('imports')
    .leftJoin('import_erasures', 'import_erasures.import_id', 'imports.id')
    .select(['imports.chunks', 'import_erasures.import_id as erased'])
    .where('imports.id', '=', importId)
    .executeTakeFirst()
  return row !== undefined && row.erased === null && row.chunks >= number
}
