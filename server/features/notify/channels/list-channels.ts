// Lists the channels of a workspace, newest first, a page at a time.

import { sql } from 'kysely'
import { cutPage, orderByCreation, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { REPLY_CHANNEL } from '../outbox/enqueue-reply.ts'
import type { ChannelListQueryInput, ChannelResource } from '../schema.ts'
import { describeChannels } from './channel.ts'
import type { ServerAbilities } from './channel-settings.ts'

const ORDER = orderByCreation('channels createdAt desc')

/** @throws Failure `invalid` for a wrong cursor */
export async function listChannels(
  { db, send }: { db: Database; send: ServerAbilities },
  actor: Actor,
  query: ChannelListQueryInput,
): Promise<Page<ChannelResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const channels = db.read
    .selectFrom('channels')
    .where('workspace_id', '=', actor.workspaceId)
    .where('type', '<>', REPLY_CHANNEL)
  let page = channels.selectAll()
  if (after) page = page.where(sql<boolean>`(created_at, id) < (${after.value}, ${after.id})`)
  const found = await page
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const total = await channels.select((e) => e.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  const data = await describeChannels({ connection: db.read, send }, actor.workspaceId, rows)
  return { data, nextCursor, total: Number(total.n) }
}
