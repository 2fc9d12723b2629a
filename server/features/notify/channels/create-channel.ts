// Creates a channel. Its secrets are sealed for its id, so they are stored after the row has one.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { CreateChannelInput, NewChannelResource } from '../schema.ts'
import { CHANNELS_WRITE, type ChannelNeeds, toChannelResource } from './channel.ts'
import { maskUrl, parseChannelSettings } from './channel-settings.ts'
import { newWebhookSecret } from './secrets.ts'

/** @throws Failure `invalid` */
export function createChannel(
  { db, now, sealing }: ChannelNeeds,
  actor: Actor,
  input: CreateChannelInput,
): Promise<NewChannelResource> {
  allow(actor, CHANNELS_WRITE)
  const { type, name, enabled, ...settings } = input
  const { to, url, botToken, chatId } = parseChannelSettings(type, settings, true)
  const secret = type === 'webhook' ? newWebhookSecret() : undefined
  return db.write(async (connection) => {
    const at = now()
    const row = await connection
      .insertInto('channels')
      .values({
        workspace_id: actor.workspaceId,
        type,
        name,
        recipients: JSON.stringify(to ?? []),
        shown_url: url === undefined ? null : maskUrl(type, url),
        chat_id: chatId ?? null,
        enabled: Number(enabled ?? true),
        created_at: at,
        updated_at: at,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    if (url !== undefined || botToken !== undefined) {
      const owner = { workspaceId: actor.workspaceId, channelId: row.id }
      await connection
        .updateTable('channels')
        .set({ sealed: sealing.seal({ url, botToken, secret }, owner) })
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', row.id)
        .execute()
    }
    return { ...toChannelResource(row), secret: secret ?? null }
  })
}
