// Undoes an import: permanently deletes the items that it has created and nobody has changed since. The rest stays and is
// listed.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { Failure } from '../../../lib/failure.ts'
import { toNestedDatabase } from '../../../storage/database/nested-database.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { allow } from '../../accounts/access/actor.ts'
import { deleteLinkIn } from '../../links/delete.ts'
import { getUnpurgedForUpdate } from '../../links/get.ts'
import { deleteUnusedTagIn } from '../../links/tags/delete-unused-tag.ts'
import {
  type CreatedItem,
  type DeleteItem,
  deleteChannelUnlessChanged,
  deleteDomainUnlessUsed,
  deleteFormUnlessUsed,
  deleteSubmissionUnlessChanged,
  deleteUtmTemplateUnlessChanged,
  deleteViewUnlessChanged,
  unsetSettingsUnlessChanged,
} from '../workspace/delete-items.ts'
import { type ImportRun, updateRun } from './import-run.ts'

/** Items per transaction, so that redirects and other writers wait only for a few. */
const ITEMS_AT_ONCE = 20

/** By kind, in an order in which references come first: links before their tags. */
const DELETIONS: [kind: string, DeleteItem<ImportRun>][] = [
  ['settings', unsetSettingsUnlessChanged],
  ['view', deleteViewUnlessChanged],
  ['utmTemplate', deleteUtmTemplateUnlessChanged],
  ['submission', deleteSubmissionUnlessChanged],
  ['form', deleteFormUnlessUsed],
  ['channel', deleteChannelUnlessChanged],
  ['link', deleteLinkUnlessChanged],
  ['tag', deleteTagUnlessUsed],
  ['domain', deleteDomainUnlessUsed],
]

/** Continues after an interruption, because the rows of deleted items are removed, and those of kept items have `kept`. */
export async function undoImport(run: ImportRun): Promise<void> {
  allow(run.actor, 'links:write')
  for (const [kind, deleteItem] of DELETIONS) {
    for (let last = 0; ; ) {
      run.signal.throwIfAborted()
      await takeTurn()
      const items = await listItems(run, kind, last)
      if (items.length === 0) break
      await deleteItems(run, items, deleteItem)
      last = items.at(-1)?.id ?? 0
    }
  }
  await run.needs.db.write((connection) =>
    connection
      .deleteFrom('import_keys')
      .where('workspace_id', '=', run.row.workspace_id)
      .where('import_id', '=', run.row.id)
      .execute(),
  )
}

async function listItems({ needs, row }: ImportRun, kind: string, after: number): Promise<CreatedItem[]> {
  const rows = await needs.db.read
    .selectFrom('import_rows')
    .select(['id', 'kind', 'item_id', 'item_updated_at', 'name', 'field', 'value'])
    .where('workspace_id', '=', row.workspace_id)
    .where('import_id', '=', row.id)
    .where('outcome', 'in', ['created', 'renamed'])
    .where('kind', '=', kind)
    .where('item_id', 'is not', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(ITEMS_AT_ONCE)
    .execute()
  return rows as CreatedItem[]
}

async function deleteItems(
  run: ImportRun,
  items: CreatedItem[],
  deleteItem: DeleteItem<ImportRun>,
): Promise<void> {
  const { db } = run.needs
  await db.write(async (connection, onCommit) => {
    await updateRun(connection, run, 'undo', { total: null })
    const nested = toNestedDatabase(db, connection, onCommit)
    for (const item of items) {
      const reason = await deleteItem(run, nested, item)
      if (reason !== undefined) await markKept(connection, run, item, reason)
    }
  })
}

async function markKept(connection: Connection, { row }: ImportRun, { id }: CreatedItem, reason: string) {
  await connection
    .updateTable('import_rows')
    .set({ outcome: 'kept', message: reason })
    .where('workspace_id', '=', row.workspace_id)
    .where('id', '=', id)
    .execute()
}

async function deleteLinkUnlessChanged(
  { needs, actor }: ImportRun,
  db: Database,
  { item_id, item_updated_at, field, value }: CreatedItem,
): Promise<string | undefined> {
  const leads = field === 'leads' ? Number(value) : 0
  try {
    return await db.write(async (connection, onCommit) => {
      const link = await getUnpurgedForUpdate(needs.db, connection, actor, item_id)
      if (link.updated_at !== item_updated_at) return 'It was changed after the import.'
      if (link.leads > leads) return 'It has leads.'
      await deleteLinkIn({ ...needs, db, connection, onCommit }, actor, item_id, {
        permanent: true,
        isOfImport: true,
      })
      return undefined
    })
  } catch (error) {
    // Somebody has permanently deleted it.
    if (error instanceof Failure && error.code === 'not_found') return undefined
    if (error instanceof Failure && error.code === 'forbidden') return `${error.message}.`
    throw error
  }
}

function deleteTagUnlessUsed(
  { actor }: ImportRun,
  db: Database,
  { item_id, name, field, value }: CreatedItem,
): Promise<string | undefined> {
  // New tags of links from other tools are gray.
  const color = field === 'color' && value !== null ? value : 'gray'
  return db.write(async (connection) => {
    const isDeleted = await deleteUnusedTagIn(connection, actor, { id: item_id, name: name ?? '', color })
    return isDeleted ? undefined : 'Links have it, or it was changed after the import.'
  })
}
