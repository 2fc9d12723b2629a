// The forms that use a channel: their lists of channels are the truth, which each submission reads.

import { sql } from 'kysely'
import { invalid } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { type Actor, requireScopes } from '../../accounts/access/actor.ts'
import { REPLY_CHANNEL } from '../outbox/enqueue-reply.ts'
import type { UpdateChannelInput } from '../schema.ts'

type Uses = Pick<UpdateChannelInput, 'allForms' | 'formKeys'>

/** Whether every id names a channel of the workspace. */
export async function channelsExist(
  connection: Connection,
  actor: Pick<Actor, 'workspaceId'>,
  ids: number[],
): Promise<boolean> {
  if (ids.length === 0) return true
  const rows = await connection
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('type', '<>', REPLY_CHANNEL)
    .where('id', 'in', ids)
    .execute()
  return rows.length === new Set(ids).size
}

/** The channels that a new form of the workspace begins with. */
export async function listChannelsOfNewForms(
  connection: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
): Promise<number[]> {
  const rows = await connection
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('all_forms', '=', 1)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** @returns how many forms use each channel */
export async function countForms(connection: Connection, workspaceId: number): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  for (const { channelIds } of await listForms(connection, workspaceId))
    for (const id of channelIds) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

/**
 * Makes exactly these forms use the channel, or all forms of the workspace. Does nothing where the input names neither.
 * @throws Failure `invalid`; `forbidden` for a key that may not change forms
 */
export async function assignForms(
  connection: Connection,
  actor: Actor,
  channelId: number,
  { allForms, formKeys }: Uses,
): Promise<void> {
  if (!allForms && formKeys === undefined) return
  requireScopes(actor, 'forms:write')
  const forms = await listForms(connection, actor.workspaceId)
  const known = new Set(forms.map(({ form_key }) => form_key))
  if (formKeys?.some((key) => !known.has(key)))
    throw invalid({ formKeys: 'must be keys of forms of this workspace' })
  const chosen = allForms ? known : new Set(formKeys)
  for (const { id, form_key, channelIds } of forms) {
    const uses = channelIds.includes(channelId)
    if (uses === chosen.has(form_key)) continue
    const next = uses ? channelIds.filter((each) => each !== channelId) : [...channelIds, channelId]
    await connection
      .updateTable('forms')
      .set((e) => ({ channel_ids: JSON.stringify(next), revision: e('revision', '+', 1) }))
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .execute()
  }
}

/** A workspace has at most a thousand forms. */
async function listForms(connection: Connection, workspaceId: number) {
  const rows = await connection
    .selectFrom('forms')
    .select(['id', 'form_key', sql<string>`channel_ids`.as('channel_ids')])
    .where('workspace_id', '=', workspaceId)
    .execute()
  return rows.map(({ channel_ids, ...form }) => ({
    ...form,
    channelIds: JSON.parse(channel_ids) as number[],
  }))
}
