// Creates and changes channels, and gives a webhook a new signing secret. Secrets are sealed for the id of their channel.

import { invalid } from '../../../lib/failure.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { parseChannelEvents } from '../events/channel-events.ts'
import { restoreHidden } from '../http-body/request-headers.ts'
import { replanDeliveries } from '../outbox/replan-deliveries.ts'
import { askNewRecipients } from '../recipients/ask-recipients.ts'
import type {
  ChannelResource,
  ChannelType,
  CreateChannelInput,
  NewChannelResource,
  UpdateChannelInput,
} from '../schema.ts'
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

type UpdateNeeds = ChannelNeeds & { wake: WakeDeliverer }

/** @throws Failure `not_found`, `invalid` */
export async function updateChannel(
  needs: UpdateNeeds,
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
  needs: UpdateNeeds,
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

/** True for a change of the receiver of the events, or of the body that it gets. */
const choosesReceiver = ({ url, body }: ChannelSettings) => url !== undefined || body !== undefined

const toEnabledChanges = (enabled: boolean) => ({
  enabled: Number(enabled),
  disabled_reason: null,
  ...(enabled && { failing_since: null, own_failures_since: null, last_error: null, paused_until: null }),
})

const pickDefined = <T extends object>(object: T) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>

const OVERLAP_MS = 24 * 60 * 60 * 1000

/** @throws Failure `not_found`, or `invalid` for a channel that is no webhook */
export function rotateSecret(needs: ChannelNeeds, actor: Actor, id: number): Promise<NewChannelResource> {
  allow(actor, CHANNELS_WRITE)
  return needs.db.write(async (connection) => {
    const row = await getChannel(connection, actor, id)
    if (row.type !== 'webhook') throw invalid({ id: 'is not a webhook: only those have a signing secret' })
    const { secret: current, former: _, ...others } = unsealSecrets(needs, row)
    const [secret, at] = [newWebhookSecret(), needs.now()]
    const former = current === undefined ? undefined : { secret: current, until: at + OVERLAP_MS }
    const owner = { workspaceId: actor.workspaceId, channelId: id }
    const changed = await connection
      .updateTable('channels')
      .set({ sealed: needs.sealing.seal({ ...others, secret, former }, owner), updated_at: at })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const target = { type: 'channel', id, name: changed.name } as const
    await recordAudit(connection, actor, { action: 'channel.secret_rotated', target }, at)
    return { ...(await describeChannel({ ...needs, connection }, changed)), secret }
  })
}
