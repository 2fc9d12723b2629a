// A channel as a row, as the resource that callers see, and as the destination that senders need.

import type { Selectable } from 'kysely'
import { toIso, toIsoOrNull } from '../../../lib/api-fields.ts'
import { notFound } from '../../../lib/failure.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Channels } from '../../../storage/database/tables/notify-tables.ts'
import type { Action, Actor } from '../../accounts/access/actor.ts'
import type { ChannelResource, ChannelType } from '../schema.ts'
import type { ChannelDestination } from './contract.ts'
import { type SealedSecrets, type Sealing, toChannelSecrets } from './secrets.ts'

/** The permission to change channels and to repeat deliveries. */
export const CHANNELS_WRITE: Action = 'channels:write'

export interface ChannelNeeds {
  db: Database
  now: () => number
  sealing: Sealing
}

export type ChannelRow = Selectable<Channels>

/** @throws Failure `not_found`, also for a channel of another workspace */
export async function getChannel(
  connection: Connection,
  actor: Pick<Actor, 'workspaceId'>,
  id: number,
): Promise<ChannelRow> {
  const row = await connection
    .selectFrom('channels')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw notFound('Channel')
  return row
}

export function toChannelResource(row: ChannelRow): ChannelResource {
  return {
    id: row.id,
    type: row.type as ChannelType,
    name: row.name,
    to: JSON.parse(row.recipients),
    url: row.shown_url,
    chatId: row.chat_id,
    enabled: row.enabled === 1,
    disabledReason: row.disabled_reason,
    lastDeliveryAt: toIsoOrNull(row.last_delivery_at),
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
  }
}

/** @throws when another installation sealed the secrets, or somebody changed them */
export function unsealSecrets({ sealing }: Pick<ChannelNeeds, 'sealing'>, row: ChannelRow): SealedSecrets {
  if (row.sealed === null) return {}
  return sealing.open(row.sealed, { workspaceId: row.workspace_id, channelId: row.id })
}

/** @throws as `unsealSecrets` does */
export function toChannelDestination(
  needs: Pick<ChannelNeeds, 'sealing'>,
  row: ChannelRow,
  at: number,
): ChannelDestination {
  return {
    name: row.name,
    recipients: JSON.parse(row.recipients),
    chatId: row.chat_id,
    secrets: toChannelSecrets(unsealSecrets(needs, row), at),
  }
}
