// Deduplication keys of the records of an archive. By them an import finds the rows of its earlier parts, and of earlier imports
// of the same workspace.

import type { Connection } from '../../../storage/database/open-database.ts'
import { toArchiveKey } from '../archive/archive-keys.ts'
import type { ArchiveImport, RecordTransaction } from './archive-import.ts'

const SOURCE = 'towpath'

const TABLES = {
  link: 'links',
  tag: 'tags',
  form: 'forms',
  channel: 'channels',
  submission: 'submissions',
  view: 'views',
} as const
type ItemKind = keyof typeof TABLES

export interface KeyOwner {
  workspaceId: number
  importId: number
  source: string
}

export interface KnownItem {
  id: number
  importId: number
}

/** The scope of a search for items: the workspace and the archive. */
export interface ItemSearch {
  run: Pick<ArchiveImport, 'actor' | 'archive'>
  connection: Connection
}

/** @returns the existing items, by their ids in the archive. Items that were deleted meanwhile can be imported again. */
export async function findItems(
  { run, connection }: ItemSearch,
  kind: ItemKind,
  ids: readonly (number | string)[],
): Promise<Map<number | string, KnownItem>> {
  const byKey = new Map(ids.map((id) => [toArchiveKey(run.archive.publicId, kind, id), id]))
  return findByKeys(connection, { workspaceId: run.actor.workspaceId, source: SOURCE }, kind, byKey)
}

/** @param names by their keys @returns the existing items, by their names */
export async function findByKeys<Name>(
  connection: Connection,
  { workspaceId, source }: Omit<KeyOwner, 'importId'>,
  kind: ItemKind,
  names: ReadonlyMap<string, Name>,
): Promise<Map<Name, KnownItem>> {
  if (names.size === 0) return new Map()
  const rows = await connection
    .selectFrom('import_keys')
    .innerJoin(`${TABLES[kind] as 'forms'} as item`, 'item.id', 'import_keys.link_id')
    .select(['source_key', 'import_keys.link_id', 'import_id'])
    .where('import_keys.workspace_id', '=', workspaceId)
    .where('item.workspace_id', '=', workspaceId)
    .where('source', '=', source)
    .where('source_key', 'in', [...names.keys()])
    .execute()
  return new Map(
    rows.map((row) => [names.get(row.source_key) as Name, { id: row.link_id, importId: row.import_id }]),
  )
}

/** @returns true if the workspace imports its own export: then ids of the archive are ids of its rows */
export async function isOwnExport({ run, connection }: ItemSearch): Promise<boolean> {
  const workspace = await connection
    .selectFrom('workspaces')
    .select('public_id')
    .where('id', '=', run.actor.workspaceId)
    .executeTakeFirstOrThrow()
  return workspace.public_id === run.archive.publicId
}

/** @returns those of the ids that are rows of the workspace */
export async function listRowIds(
  { run, connection }: ItemSearch,
  kind: ItemKind,
  ids: number[],
): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await connection
    .selectFrom(TABLES[kind] as 'forms')
    .select('id')
    .where('workspace_id', '=', run.actor.workspaceId)
    .where('id', 'in', ids)
    .execute()
  return rows.map(({ id }) => id)
}

/** @returns true if an earlier import, or an earlier part of this one, has created an item of this kind */
export async function hasItems({ run, connection }: ItemSearch, kind: ItemKind): Promise<boolean> {
  const start = toArchiveKey(run.archive.publicId, kind, '')
  const row = await connection
    .selectFrom('import_keys')
    .select('link_id')
    .where('workspace_id', '=', run.actor.workspaceId)
    .where('source', '=', SOURCE)
    .where('source_key', '>=', start)
    // The character after a colon.
    .where('source_key', '<', `${start.slice(0, -1)};`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function storeItemKey(
  { run, connection }: RecordTransaction,
  kind: ItemKind,
  id: number | string,
  itemId: number,
): Promise<void> {
  const key = toArchiveKey(run.archive.publicId, kind, id)
  if (run.isDryRun) run.dryRunKeys.add(key)
  await storeKeys(connection, toKeyOwner(run), [key], itemId)
}

export const toKeyOwner = ({ actor, importId }: RecordTransaction['run']): KeyOwner => ({
  workspaceId: actor.workspaceId,
  importId,
  source: SOURCE,
})

export const isFromDryRun = (
  { dryRunKeys, archive }: RecordTransaction['run'],
  kind: ItemKind,
  id: number | string,
) => dryRunKeys.has(toArchiveKey(archive.publicId, kind, id))

/** @param keys of one item, in any import */
export async function storeKeys(
  connection: Connection,
  { workspaceId, importId, source }: KeyOwner,
  keys: string[],
  itemId: number,
): Promise<void> {
  if (keys.length === 0) return
  const columns = { workspace_id: workspaceId, source, link_id: itemId, import_id: importId }
  await connection
    .insertInto('import_keys')
    .values(keys.map((source_key) => ({ ...columns, source_key })))
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'source', 'source_key'])
        .doUpdateSet({ link_id: itemId, import_id: importId }),
    )
    .execute()
}

/** SQLite takes 32,766 values in one statement. */
const KEYS_AT_ONCE = 500

/** The links of hits by their keys, including permanently deleted ones, whose clicks stay in the analytics. */
export async function findHitLinks(
  connection: Connection,
  workspaceId: number,
  keys: readonly string[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    const rows = await connection
      .selectFrom('import_keys')
      .select(['source_key', 'link_id'])
      .where('workspace_id', '=', workspaceId)
      .where('source', '=', SOURCE)
      .where('source_key', 'in', keys.slice(from, from + KEYS_AT_ONCE))
      .execute()
    for (const { source_key, link_id } of rows) found.set(source_key, link_id)
  }
  return found
}
