// Deletes a channel with its deliveries and their attempts, and takes it out of the forms and views that name it.

import { sql } from 'kysely'
import type { Connection } from '../../../storage/database/open-database.ts'
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
    await removeFromViews(connection, actor, id)
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

/** A report or an alert that has no other channel ends, because it has nobody to go to. */
async function removeFromViews(connection: Connection, { workspaceId }: Actor, id: number): Promise<void> {
  const views = await connection
    .selectFrom('views')
    .select(['id', 'report', 'report_due_at', 'alert', 'alert_due_at', 'alert_links_until'])
    .where('workspace_id', '=', workspaceId)
    .where((e) => e.or([e('report', 'is not', null), e('alert', 'is not', null)]))
    .execute()
  for (const view of views) {
    const report = withoutChannel(view.report, id)
    const alert = withoutChannel(view.alert, id)
    if (report === view.report && alert === view.alert) continue
    await connection
      .updateTable('views')
      .set({
        report,
        alert,
        report_due_at: report === null ? null : view.report_due_at,
        alert_due_at: alert === null ? null : view.alert_due_at,
        alert_links_until: alert === null ? null : view.alert_links_until,
      })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', view.id)
      .execute()
  }
}

/** @param settings JSON of an object with `channelIds` */
function withoutChannel(settings: string | null, id: number): string | null {
  const read: { channelIds: number[] } | null = JSON.parse(settings ?? 'null')
  if (!read?.channelIds.includes(id)) return settings
  const channelIds = read.channelIds.filter((channelId) => channelId !== id)
  return channelIds.length === 0 ? null : JSON.stringify({ ...read, channelIds })
}
