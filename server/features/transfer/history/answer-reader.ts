// Answers the reader's questions about a click history, and stores its chunks.

import { sql } from 'kysely'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { HistoryMessage, HistoryReply, HistoryTask, ImportPlace, LinkDays } from './messages.ts'
import { toNumberTable } from './row-lists.ts'
import { type ChunkNeeds, storeChunk } from './store-chunk.ts'

export interface HistoryNeeds extends ChunkNeeds {
  /** The id of each key's link; 0 without one. */
  findLinks(keys: string[]): Promise<number[]>
}

type RunningHistory = ImportPlace & Pick<HistoryTask, 'dryRun'>

export async function answerReader(
  needs: HistoryNeeds,
  task: RunningHistory,
  message: HistoryMessage,
): Promise<HistoryReply> {
  switch (message.type) {
    case 'links':
      return needs.findLinks(message.keys)
    case 'brought':
      return findBrought(needs, task, message.pairs)
    case 'chunk':
      await storeChunk(needs, task, message.chunk)
      return null
  }
}

const PAIRS_PER_STATEMENT = 250

/** @returns the number of clicks that other imports have for each pair */
async function findBrought(
  { db }: HistoryNeeds,
  { importId, workspaceId }: RunningHistory,
  pairs: LinkDays,
): Promise<number[]> {
  const found: number[] = []
  for (let from = 0; from < pairs.length; from += 2 * PAIRS_PER_STATEMENT) {
    const some: [number, number, number][] = []
    for (let at = from; at < Math.min(pairs.length, from + 2 * PAIRS_PER_STATEMENT); at += 2)
      some.push([some.length, pairs[at] as number, pairs[at + 1] as number])
    const listed = toNumberTable(db.engine, ['place', 'link_id', 'day'], some)
    const { rows } = await sql<{ place: number; brought: number }>`
      select place, coalesce((
        select sum(clicks) from import_days where workspace_id = ${sql.lit(workspaceId)}
          and import_days.link_id = listed.link_id and import_days.day = listed.day
          and import_id <> ${sql.lit(importId)}
      ), 0) as brought from ${listed} as listed`.execute(db.read)
    const brought = new Array<number>(some.length).fill(0)
    for (const row of rows) brought[Number(row.place)] = Number(row.brought)
    found.push(...brought)
    await nextTurn()
  }
  return found
}

/** @returns true if other imports have clicks of the workspace, which this one must not import again */
export async function hasEarlierHistory(
  read: Connection,
  { importId, workspaceId }: ImportPlace,
): Promise<boolean> {
  const day = await read
    .selectFrom('import_days')
    .select('import_id')
    .where('workspace_id', '=', workspaceId)
    .where('import_id', '!=', importId)
    .limit(1)
    .executeTakeFirst()
  return day !== undefined
}
