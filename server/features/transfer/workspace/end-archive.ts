// Completes the import of an archive: hits without a link get a stand-in link, the analytics begin where those of the
// exported workspace did, and notices list what is left to do.

import type { Connection } from '../../../storage/database/open-database.ts'
import { toNoLinkKey } from '../archive/archive-keys.ts'
import { toStandIn } from '../history/stand-in.ts'
import type { ArchiveImport } from './archive-import.ts'
import { storeKey } from './item-keys.ts'

/** @returns notices */
export async function endArchive({
  run,
  connection,
}: {
  run: ArchiveImport
  connection: Connection
}): Promise<string[]> {
  const { actor, archive, importId, isDryRun } = run
  const { workspaceId } = actor
  const workspace = await connection
    .selectFrom('workspaces')
    .select('public_id')
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  const isItself = workspace.public_id === archive.publicId
  if (isDryRun && !isItself) run.dryRunKeys.add(toNoLinkKey(archive.publicId))
  if (!isDryRun) {
    await connection
      .updateTable('workspaces')
      .set({ created_at: archive.createdAt })
      .where('id', '=', workspaceId)
      .where('created_at', '>', archive.createdAt)
      .execute()
    // The workspace has the hits of its own export already.
    if (!isItself)
      await storeKey(
        connection,
        { workspaceId, importId },
        toNoLinkKey(archive.publicId),
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
    ...(counts.conflicts > 0
      ? ['Links whose slugs are taken were left out, and their clicks with them.']
      : []),
  ]
}

async function countOutcomes({ actor, importId }: ArchiveImport, connection: Connection) {
  const rows = await connection
    .selectFrom('import_rows')
    .select(['kind', 'outcome'])
    .select((e) => [e.fn.countAll<number>().as('rows'), e.fn.count<number>('message').as('noted')])
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
    conflicts: Number(find('link', 'skipped')?.rows ?? 0),
  }
}
