// Lists the channels of a workspace, newest first, a page at a time.

import type { Page } from '../../../lib/pagination.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { REPLY_CHANNEL } from '../outbox/enqueue-reply.ts'
import type { ChannelListQueryInput, ChannelResource } from '../schema.ts'
import { describeChannels } from './channel.ts'
import type { ServerAbilities } from './channel-settings.ts'

const ORDER = { name: 'channels createdAt desc', table: 'channels', byCreation: true }

/** @throws Failure `invalid` for a wrong cursor */
export async function listChannels(
  { db, send }: { db: Database; send: ServerAbilities },
  actor: Actor,
  query: ChannelListQueryInput,
): Promise<Page<ChannelResource>> {
  const channels = db.read
    .selectFrom('channels')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('type', '<>', REPLY_CHANNEL)
  const { rows, ...page } = await listNewest(channels, query, ORDER)
  const data = await describeChannels({ connection: db.read, send }, actor.workspaceId, rows)
  return { data, ...page }
}
