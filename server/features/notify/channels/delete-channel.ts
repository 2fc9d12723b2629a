// Deletes a channel with its deliveries and their attempts, and takes it out of the forms that name it.

import { sql } from 'kysely'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import type { ChannelResource } from '../schema.ts'
import { CHANNELS_WRITE, type ChannelNeeds, describeChannel, getChannel } from './channel.ts'

/** @returns the channel as it was. @throws Failure `not_found` */
export function deleteChannel(
  needs: Pick<ChannelNeeds, 'db' | 'now' | 'send'>,
  actor: Actor,
  id: number,
): Promise<ChannelResource> {
  allow(actor, CHANNELS_WRITE)
  return needs.db.write(async (connection) => {
    const row = await getChannel(connection, actor, id)
    const forms = await connection
      .selectFrom('forms')
      .select(['id', 'channel_ids'])
      .where('workspace_id', '=', actor.workspaceId)
      // The column is a JSON list of numbers. Without its brackets, and with a comma at each end, each id is between commas.
      .where(sql<boolean>`',' || trim(channel_ids, '[]') || ',' like ${`%,${id},%`}`)
      .execute()
    for (const form of forms) {
      const others = (JSON.parse(form.channel_ids) as number[]).filter((channelId) => channelId !== id)
      await connection
        .updateTable('forms')
        .set((e) => ({ channel_ids: JSON.stringify(others), revision: e('revision', '+', 1) }))
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', form.id)
        .execute()
    }
    const channel = await describeChannel({ ...needs, connection }, row)
    await connection
      .deleteFrom('channels')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .execute()
    const target = { type: 'channel', id, name: row.name } as const
    await recordAudit(connection, actor, { action: 'channel.deleted', target }, needs.now())
    return channel
  })
}
