// Changes a channel. Absent fields stay as they are. Enabling a channel clears the record of its failures.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { parseChannelEvents } from '../events/channel-events.ts'
import { restoreHidden } from '../http-body/request-headers.ts'
import { replanDeliveries } from '../outbox/replan-deliveries.ts'
import { askNewRecipients } from '../recipients/ask-recipients.ts'
import type { ChannelResource, ChannelType, UpdateChannelInput } from '../schema.ts'
import { CHANNELS_WRITE, type ChannelNeeds, describeChannel, getChannel, unsealSecrets } from './channel.ts'
import {
  type ChannelSettings,
  maskUrl,
  parseChannelSettings,
  requireEventScopes,
  requireFittingSettings,
  requireMailServer,
  toLayoutColumns,
} from './channel-settings.ts'
import type { WakeDeliverer } from './contract.ts'
import { assignForms } from './use-for-forms.ts'

export interface UpdateChannelNeeds extends ChannelNeeds {
  wake: WakeDeliverer
}

/** @throws Failure `not_found`, `invalid` */
export async function updateChannel(
  needs: UpdateChannelNeeds,
  actor: Actor,
  id: number,
  input: UpdateChannelInput,
): Promise<ChannelResource> {
  allow(actor, CHANNELS_WRITE)
  const channel = await storeChanges(needs, actor, id, input)
  const { digest, quietHours } = channel
  if (input.digest !== undefined || input.quietHours !== undefined || (input.enabled && channel.enabled)) {
    const replanned = { workspaceId: actor.workspaceId, channelId: id, timing: { digest, quietHours } }
    await replanDeliveries(needs.db, replanned, needs.now())
    needs.wake(id)
  }
  return channel
}

function storeChanges(
  needs: UpdateChannelNeeds,
  actor: Actor,
  id: number,
  input: UpdateChannelInput,
): Promise<ChannelResource> {
  const { name, enabled, allForms, formKeys, ...settings } = input
  return needs.db.write(async (connection, onCommit) => {
    const row = await getChannel(connection, actor, id)
    const type = row.type as ChannelType
    if (enabled !== undefined && enabled !== false && row.enabled === 0)
      requireMailServer(type, needs.send, 'enabled')
    requireEventScopes(actor, {
      events: settings.events ?? (choosesReceiver(settings) ? parseChannelEvents(row) : null),
    })
    const sealed = unsealSecrets(needs, row)
    const parsed = parseChannelSettings(
      type,
      settings.headers
        ? { ...settings, headers: restoreHidden(settings.headers, sealed.headers ?? {}) }
        : settings,
      false,
    )
    const { to, url, botToken, chatId, headers } = parsed
    const owner = { workspaceId: actor.workspaceId, channelId: id }
    const changes = {
      ...(name !== undefined && { name }),
      ...(to && { recipients: JSON.stringify(to) }),
      ...(chatId !== undefined && { chat_id: chatId }),
      ...(url !== undefined && { shown_url: maskUrl(type, url) }),
      ...((url !== undefined || botToken !== undefined || headers !== undefined) && {
        sealed: needs.sealing.seal({ ...sealed, ...pickDefined({ url, botToken, headers }) }, owner),
      }),
      ...toLayoutColumns(parsed),
      ...(enabled !== undefined && toEnabledChanges(enabled ?? true)),
      ...(allForms !== undefined && { all_forms: Number(allForms ?? false) }),
    }
    requireFittingSettings({ ...row, ...changes, type, requestHeaders: headers ?? sealed.headers ?? {} })
    await assignForms(connection, actor, id, { allForms, formKeys })
    if (Object.keys(changes).length === 0 && formKeys === undefined)
      return describeChannel({ ...needs, connection }, row)
    const at = needs.now()
    const changed = await connection
      .updateTable('channels')
      .set({ ...changes, updated_at: at })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const target = { type: 'channel', id, name: changed.name } as const
    const detail = { fields: Object.keys(pickDefined(input)).sort() }
    await recordAudit(connection, actor, { action: 'channel.updated', target, detail }, at)
    // The waiting deliveries are due at once.
    if (changed.enabled === 1) onCommit(() => needs.wake(id))
    const channel = await describeChannel({ ...needs, connection }, changed)
    onCommit(() => askNewRecipients(needs, actor.workspaceId, channel.unconfirmed))
    return channel
  })
}

/** Whether a change says where the events go, or what the request says of them. */
const choosesReceiver = ({ url, body }: ChannelSettings) => url !== undefined || body !== undefined

const toEnabledChanges = (enabled: boolean) => ({
  enabled: Number(enabled),
  disabled_reason: null,
  ...(enabled && { failing_since: null, own_failures_since: null, last_error: null, paused_until: null }),
})

const pickDefined = <T extends object>(object: T) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>
