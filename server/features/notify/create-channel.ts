// Making a channel. Its secrets are sealed to its own id, so they are written after the row has one.

import { type Actor, allow } from '../accounts/actor.ts'
import { CHANNELS_WRITE, type ChannelNeeds, channelResource } from './channel.ts'
import { checkSettings, shownUrl } from './channel-settings.ts'
import type { CreateChannelInput, NewChannelResource } from './schema.ts'
import { newWebhookSecret } from './secrets.ts'

/** @throws Failure `invalid` */
export function createChannel(
  { rows, now, sealing }: ChannelNeeds,
  actor: Actor,
  input: CreateChannelInput,
): Promise<NewChannelResource> {
  allow(actor, CHANNELS_WRITE)
  const { type, name, enabled, ...given } = input
  const { to, url, botToken, chatId } = checkSettings(type, given, true)
  const secret = type === 'webhook' ? newWebhookSecret() : undefined
  return rows.write(async (db) => {
    const at = now()
    const row = await db
      .insertInto('channels')
      .values({
        workspace_id: actor.workspaceId,
        type,
        name,
        recipients: JSON.stringify(to ?? []),
        shown_url: url === undefined ? null : shownUrl(type, url),
        chat_id: chatId ?? null,
        enabled: Number(enabled ?? true),
        created_at: at,
        updated_at: at,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    if (url !== undefined || botToken !== undefined) {
      const owner = { workspaceId: actor.workspaceId, channelId: row.id }
      await db
        .updateTable('channels')
        .set({ sealed: sealing.seal({ url, botToken, secret }, owner) })
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', row.id)
        .execute()
    }
    return { ...channelResource(row), secret: secret ?? null }
  })
}
