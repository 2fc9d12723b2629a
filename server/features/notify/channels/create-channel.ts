// Creates a channel. Its secrets are sealed for its id, so they are stored after the row has one.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { askNewRecipients } from '../recipients/ask-recipients.ts'
import type { CreateChannelInput, NewChannelResource } from '../schema.ts'
import { CHANNELS_WRITE, type ChannelNeeds, describeChannel } from './channel.ts'
import {
  maskUrl,
  parseChannelSettings,
  requireEventScopes,
  requireFittingSettings,
  requireMailServer,
  toLayoutColumns,
} from './channel-settings.ts'
import { newWebhookSecret } from './secrets.ts'
import { assignForms } from './use-for-forms.ts'

/** @throws Failure `invalid`, `conflict` */
export function createChannel(
  needs: ChannelNeeds,
  actor: Actor,
  input: CreateChannelInput,
): Promise<NewChannelResource> {
  allow(actor, CHANNELS_WRITE)
  const { db, now, sealing } = needs
  const { type, name, enabled, allForms, formKeys, ...settings } = input
  requireMailServer(type, needs.send, 'type')
  requireEventScopes(actor, settings)
  const parsed = parseChannelSettings(
    type,
    type === 'http' ? { method: 'POST', headers: {}, ...settings } : settings,
    true,
  )
  const { to, url, botToken, chatId, headers } = parsed
  const secret = type === 'webhook' ? newWebhookSecret() : undefined
  return db.write(async (connection, onCommit) => {
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
        ...toLayoutColumns(parsed),
        all_forms: Number(allForms ?? false),
        created_at: at,
        updated_at: at,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    requireFittingSettings({ ...row, type, requestHeaders: headers ?? {} })
    if (url !== undefined || botToken !== undefined) {
      const owner = { workspaceId: actor.workspaceId, channelId: row.id }
      await connection
        .updateTable('channels')
        .set({ sealed: sealing.seal({ url, botToken, secret, headers }, owner) })
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', row.id)
        .execute()
    }
    await requireRoom(connection, actor.workspaceId, 'channels')
    await assignForms(connection, actor, row.id, { allForms, formKeys })
    const target = { type: 'channel', id: row.id, name } as const
    await recordAudit(connection, actor, { action: 'channel.created', target, detail: { type } }, at)
    const channel = await describeChannel({ ...needs, connection }, row)
    onCommit(() => askNewRecipients(needs, actor.workspaceId, channel.unconfirmed))
    return { ...channel, secret: secret ?? null }
  })
}
