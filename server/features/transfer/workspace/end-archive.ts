// Completes the import of an archive: hits without a link get a stand-in link, analytics begin at the time of the exported
// workspace, and notices list the remaining steps.

import type { Connection } from '../../../storage/database/open-database.ts'
import { toNoLinkKey } from '../archive/archive-keys.ts'
import { toStandIn } from '../history/stand-in.ts'
import { type ArchiveImport, IMPORTED_BEFORE } from './archive-import.ts'
import { isOwnExport, storeKeys, toKeyOwner } from './item-keys.ts'

/** @returns notices */
export async function endArchive({
  run,
  connection,
}: {
  run: ArchiveImport
  connection: Connection
}): Promise<string[]> {
  const { actor, archive, isDryRun } = run
  const { workspaceId } = actor
  const isItself = await isOwnExport({ run, connection })
  if (isDryRun && !isItself) run.dryRunKeys.add(toNoLinkKey(archive.publicId))
  if (!isDryRun) {
    await connection
      .updateTable('workspaces')
      .set({ created_at: archive.createdAt })
      .where('id', '=', workspaceId)
      .where('created_at', '>', archive.createdAt)
      .execute()
    // The workspace already has the hits of its own export.
    if (!isItself)
      await storeKeys(
        connection,
        toKeyOwner(run),
        [toNoLinkKey(archive.publicId)],
        toStandIn(archive.publicId),
      )
  }
  const counts = await countOutcomes(run, connection)
  return [
    ...(counts.channels > 0
      ? ['Channels came without their secrets. Enter them, and enable the channels.']
      : []),
    ...(counts.domains > 0
      ? ['Domains answer once their DNS records are set for this server: their pages show them.']
      : []),
    ...(counts.passwords > 0
      ? ['Links with a password stay closed until you set a new one: the list of rows names them.']
      : []),
    ...(counts.forms > 0
      ? ['Forms got new keys, because others of this server have theirs: the list of rows names them.']
      : []),
    ...(counts.conflicts > 0 ? ['Links with taken slugs were left out, along with their clicks.'] : []),
    ...(counts.views > 0
      ? [
          'Views were imported without shared pages, reports and alerts, because their addresses and channels belong to the old server. Set them up again.',
        ]
      : []),
    ...(counts.viewsLeftOut > 0
      ? ['Views with filters for missing items were left out: the list of rows names them.']
      : []),
    ...(counts.settingsLeftOut > 0
      ? ['The analytics settings of the workspace were left out: the list of rows says why.']
      : []),
  ]
}

async function countOutcomes({ actor, importId }: ArchiveImport, connection: Connection) {
  const rows = await connection
    .selectFrom('import_rows')
    .select(['kind', 'outcome'])
    .select((e) => [
      e.fn.countAll<number>().as('rows'),
      e.fn.count<number>('message').as('noted'),
      e.fn.countAll<number>().filterWhere('message', '<>', IMPORTED_BEFORE).as('refused'),
    ])
    .where('workspace_id', '=', actor.workspaceId)
    .where('import_id', '=', importId)
    .groupBy(['kind', 'outcome'])
    .execute()
  const find = (kind: string, outcome: string) =>
    rows.find((row) => row.kind === kind && row.outcome === outcome)
  return {
    channels: Number(find('channel', 'created')?.rows ?? 0),
    domains: Number(find('domain', 'created')?.rows ?? 0),
    passwords: Number(find('link', 'created')?.noted ?? 0),
    forms: Number(find('form', 'renamed')?.rows ?? 0),
    views: Number(find('view', 'created')?.rows ?? 0),
    viewsLeftOut: Number(find('view', 'skipped')?.refused ?? 0),
    settingsLeftOut: Number(find('settings', 'skipped')?.refused ?? 0),
    conflicts: Number(find('link', 'skipped')?.rows ?? 0),
  }
}
