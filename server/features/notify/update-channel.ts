// Changing a channel: absent fields stay, an empty change is no change. To switch one on again is to begin anew with it.

import { type Actor, allow } from '../accounts/actor.ts'
import { CHANNELS_WRITE, type ChannelNeeds, channelResource, findChannel, secretsOf } from './channel.ts'
import { checkSettings, shownUrl } from './channel-settings.ts'
import type { Wake } from './deliver.ts'
import type { ChannelResource, ChannelType, UpdateChannelInput } from './schema.ts'

export interface UpdateChannelNeeds extends ChannelNeeds {
  wake: Wake
}

/** @throws Failure `not_found`, `invalid` */
export function updateChannel(
  needs: UpdateChannelNeeds,
  actor: Actor,
  id: number,
  input: UpdateChannelInput,
): Promise<ChannelResource> {
  allow(actor, CHANNELS_WRITE)
  const { name, enabled, ...given } = input
  return needs.rows.write(async (db, onCommit) => {
    const row = await findChannel(db, actor, id)
    const type = row.type as ChannelType
    const { to, url, botToken, chatId } = checkSettings(type, given, false)
    const owner = { workspaceId: actor.workspaceId, channelId: id }
    const changes = {
      ...(name !== undefined && { name }),
      ...(to && { recipients: JSON.stringify(to) }),
      ...(chatId !== undefined && { chat_id: chatId }),
      ...(url !== undefined && { shown_url: shownUrl(type, url) }),
      ...((url !== undefined || botToken !== undefined) && {
        sealed: needs.sealing.seal({ ...secretsOf(needs, row), ...definedOf({ url, botToken }) }, owner),
      }),
      ...(enabled !== undefined && switched(enabled ?? true)),
    }
    if (Object.keys(changes).length === 0) return channelResource(row)
    const changed = await db
      .updateTable('channels')
      .set({ ...changes, updated_at: needs.now() })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    // What waited for it is due at once.
    if (changed.enabled === 1) onCommit(() => needs.wake(id))
    return channelResource(changed)
  })
}

const switched = (on: boolean) => ({
  enabled: Number(on),
  disabled_reason: null,
  ...(on && { failing_since: null, paused_until: null }),
})

const definedOf = <T extends object>(object: T) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>
