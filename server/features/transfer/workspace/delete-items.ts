// Undoes the import of a workspace's export: permanently deletes the items that it has created, except changed ones and those with
// new children.

import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import {
  NO_ANALYTICS_SETTINGS,
  readAnalyticsSettings,
  storeAnalyticsSettings,
} from '../../accounts/workspaces/analytics-settings.ts'
import { deleteSubmissionRows } from '../../forms/submissions/delete-submissions.ts'
import { hasLinks } from '../../links/domains/domain-links.ts'
import { hashAnalyticsSettings, hashEditableFields } from './hash-editable-fields.ts'

/** An item that an import has created. */
export interface CreatedItem {
  id: number
  kind: string
  item_id: number
  item_updated_at: number | null
  name: string | null
  /** The children at its import, such as the leads of a link. */
  field: string | null
  value: string | null
}

interface Undo {
  actor: Actor
}

/** Deletes one item. @returns the reason to keep it; undefined if it is deleted */
export type DeleteItem<Run = Undo> = (
  run: Run,
  db: Database,
  item: CreatedItem,
) => Promise<string | undefined>

const CHANGED = 'It was changed after the import.'

type DeletedTable = 'forms' | 'channels' | 'views' | 'utm_templates'

async function deleteRow(
  connection: Connection,
  table: DeletedTable | 'domains',
  { workspaceId }: Actor,
  id: number,
): Promise<undefined> {
  await connection
    .deleteFrom<DeletedTable | 'domains'>(table)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

export const deleteSubmissionUnlessChanged: DeleteItem = ({ actor }, db, { item_id, item_updated_at }) => {
  allow(actor, 'forms:write')
  return db.write(async (connection) => {
    const row = await connection
      .selectFrom('submissions')
      .select(['status', 'notes'])
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', item_id)
      .executeTakeFirst()
    if (!row) return undefined
    if (hashEditableFields(row) !== Number(item_updated_at)) return CHANGED
    await deleteSubmissionRows(connection, actor, [item_id])
    return undefined
  })
}

/** @param findUse finds a reason to keep an unchanged row */
async function deleteRowUnlessChanged(
  connection: Connection,
  table: DeletedTable,
  actor: Actor,
  { item_id, item_updated_at }: CreatedItem,
  findUse: () => Promise<string | undefined> = async () => undefined,
): Promise<string | undefined> {
  const row = await connection
    .selectFrom<DeletedTable>(table)
    .select('updated_at')
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', item_id)
    .executeTakeFirst()
  if (!row) return undefined
  if (row.updated_at !== Number(item_updated_at)) return CHANGED
  return (await findUse()) ?? deleteRow(connection, table, actor, item_id)
}

export const deleteFormUnlessUsed: DeleteItem = ({ actor }, db, item) => {
  allow(actor, 'forms:write')
  return db.write((connection) =>
    deleteRowUnlessChanged(connection, 'forms', actor, item, async () => {
      const submission = await connection
        .selectFrom('submissions')
        .select('id')
        .where('workspace_id', '=', actor.workspaceId)
        .where('form_id', '=', item.item_id)
        .limit(1)
        .executeTakeFirst()
      return submission && 'It has submissions.'
    }),
  )
}

export const deleteChannelUnlessChanged: DeleteItem = ({ actor }, db, item) => {
  allow(actor, 'channels:write')
  return db.write((connection) =>
    deleteRowUnlessChanged(connection, 'channels', actor, item, async () => {
      const forms = await connection
        .selectFrom('forms')
        .select('channel_ids')
        .where('workspace_id', '=', actor.workspaceId)
        .execute()
      const isUsed = forms.some(({ channel_ids }) => JSON.parse(channel_ids).includes(item.item_id))
      return isUsed ? 'A form uses it.' : undefined
    }),
  )
}

export const deleteViewUnlessChanged: DeleteItem = ({ actor }, db, item) => {
  allow(actor, 'views:write')
  return db.write((connection) => deleteRowUnlessChanged(connection, 'views', actor, item))
}

export const deleteUtmTemplateUnlessChanged: DeleteItem = ({ actor }, db, item) => {
  allow(actor, 'links:write')
  return db.write((connection) => deleteRowUnlessChanged(connection, 'utm_templates', actor, item))
}

interface SettingsUndo extends Undo {
  needs: { now: () => number }
}

/** Needs no check of rights, because only somebody who may set the settings has imported them. */
export const unsetSettingsUnlessChanged: DeleteItem<SettingsUndo> = (
  { actor, needs },
  db,
  { item_updated_at },
) =>
  db.write(async (connection, onCommit) => {
    const settings = await readAnalyticsSettings(connection, actor.workspaceId)
    if (hashAnalyticsSettings(settings) !== Number(item_updated_at)) return CHANGED
    await storeAnalyticsSettings(connection, onCommit, actor, {
      settings: NO_ANALYTICS_SETTINGS,
      at: needs.now(),
    })
    return undefined
  })

export const deleteDomainUnlessUsed: DeleteItem = ({ actor }, db, { item_id, item_updated_at }) => {
  allow(actor, 'domains:delete')
  return db.write(async (connection) => {
    const row = await connection
      .selectFrom('domains')
      .select(['workspace_id', 'domain', 'updated_at', 'verified_at'])
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', item_id)
      .executeTakeFirst()
    if (!row) return undefined
    if (row.updated_at !== Number(item_updated_at)) return CHANGED
    if (row.verified_at !== null) return 'It is verified, and answers.'
    if (await hasLinks(connection, row)) return 'It has links.'
    return deleteRow(connection, 'domains', actor, item_id)
  })
}
