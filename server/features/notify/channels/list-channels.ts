// The channels of a workspace, newest first, a page at a time.

import { sql } from 'kysely'
import { decodeCursor, encodeCursor } from '../../../lib/cursor.ts'
import { invalid } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { ChannelListQueryInput, ChannelResource } from '../schema.ts'
import { toChannelResource } from './channel.ts'

const PAGE = 50
const ORDER = 'channels createdAt desc'

/** @throws Failure `invalid` for a wrong cursor */
export async function listChannels(
  { db }: { db: Database },
  actor: Actor,
  query: ChannelListQueryInput,
): Promise<{ data: ChannelResource[]; nextCursor: string | null; total: number }> {
  const limit = query.limit ?? PAGE
  const mine = db.read.selectFrom('channels').where('workspace_id', '=', actor.workspaceId)
  let page = mine.selectAll()
  if (query.cursor !== undefined) {
    const cursor = decodeCursor(query.cursor, ORDER)
    if (typeof cursor?.value !== 'number')
      throw invalid({ cursor: 'is not a cursor of this list; start again without it' })
    page = page.where(sql<boolean>`(created_at, id) < (${cursor.value}, ${cursor.id})`)
  }
  const found = await page
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const { total } = await mine.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const channels = found.slice(0, limit)
  const last = found.length > limit ? channels.at(-1) : undefined
  return {
    data: channels.map(toChannelResource),
    nextCursor: last ? encodeCursor({ order: ORDER, value: last.created_at, id: last.id }) : null,
    total: Number(total),
  }
}
