// The notice to a workspace's owners that one of its channels falls behind: its content.

import type { Connection } from '../../../storage/database/open-database.ts'
import type { ChannelRow } from '../channels/channel.ts'
import type { NoticeContent } from '../channels/contract.ts'
import { COUNTED_MAX, countWaiting } from '../outbox/waiting-deliveries.ts'
import { nameChannel } from './channel-disabled-notice.ts'
import { createChannelContent } from './notice-content.ts'

/** @returns undefined when the channel has caught up, or is gone */
export async function findChannelBehindContent(
  connection: Connection,
  channel: ChannelRow,
  origin: string,
  at: number,
): Promise<NoticeContent | undefined> {
  const { id, workspace_id } = channel
  const behind = await connection
    .selectFrom('channels')
    .select(['name', 'type', 'failing_since', 'last_error'])
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('enabled', '=', 1)
    .where('behind_since', 'is not', null)
    .executeTakeFirst()
  const waiting = (await countWaiting(connection, [id], at)).get(id)
  if (!behind || !waiting?.oldest) return undefined
  const since = new Date(waiting.oldest).toISOString().slice(0, 16).replace('T', ' ')
  const count = waiting.waiting >= COUNTED_MAX ? `More than ${COUNTED_MAX}` : String(waiting.waiting)
  const fields = new Map([
    ['Channel', nameChannel(behind)],
    ['Waiting', `${count} notifications, the oldest since ${since} UTC`],
    ['Why', behind.failing_since === null ? SLOW : `The last attempt failed: ${behind.last_error}`],
    [
      'What to do next',
      'Every submission is stored and in the inbox. Waiting notifications are sent as fast as the receiver ' +
        'accepts them. Make the receiver faster, or let fewer forms use the channel.',
    ],
  ])
  return createChannelContent(
    { ...channel, name: behind.name },
    { origin, at, fields, json: Object.fromEntries(fields) },
  )
}

const SLOW = 'Notifications arrive faster than the receiver accepts them'
