// A channel as a row and as the resource that callers see.

import type { Selectable } from 'kysely'
import { notFound } from '../../lib/failure.ts'
import { iso, isoOrNull } from '../../lib/wire.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import type { Channels } from '../../storage/rows/tables.ts'
import type { Action, Actor } from '../accounts/actor.ts'
import type { ChannelResource, ChannelType } from './schema.ts'
import type { SealedSecrets, Sealing } from './secrets.ts'

/** What each verb that changes channels, or sends something again, asks for. */
export const CHANNELS_WRITE: Action = 'channels:write'

export interface ChannelNeeds {
  rows: Rows
  now: () => number
  sealing: Sealing
}

export type ChannelRow = Selectable<Channels>

/** @throws Failure `not_found`, the same for another workspace's channel as for none. */
export async function findChannel(
  db: Db,
  actor: Pick<Actor, 'workspaceId'>,
  id: number,
): Promise<ChannelRow> {
  const found = await db
    .selectFrom('channels')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!found) throw notFound('Channel')
  return found
}

export function channelResource(row: ChannelRow): ChannelResource {
  return {
    id: row.id,
    type: row.type as ChannelType,
    name: row.name,
    to: JSON.parse(row.recipients),
    url: row.shown_url,
    chatId: row.chat_id,
    enabled: row.enabled === 1,
    disabledReason: row.disabled_reason,
    lastDeliveryAt: isoOrNull(row.last_delivery_at),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  }
}

/** @throws when they were sealed by another installation, or changed */
export function secretsOf({ sealing }: Pick<ChannelNeeds, 'sealing'>, row: ChannelRow): SealedSecrets {
  if (row.sealed === null) return {}
  return sealing.open(row.sealed, { workspaceId: row.workspace_id, channelId: row.id })
}
