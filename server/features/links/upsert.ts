// The link for an external id, or for a destination: changed if it is there, made if it is not.

import { unavailable } from '../../lib/failure.ts'
import { hashPassword } from '../../lib/password.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { createLinkIn, type LinkNeeds } from './create.ts'
import { resolveDomain, toLinkColumns } from './rules.ts'
import type { CreateLinkInput, LinkResource } from './schema.ts'
import { updateLinkIn } from './update.ts'

/**
 * Found by `externalId` where one is given, else by domain and destination (with its UTM values; the oldest counts).
 * @throws Failure `conflict`, `invalid`
 */
export async function upsertLink(
  needs: LinkNeeds,
  actor: Actor,
  input: CreateLinkInput,
): Promise<{ link: LinkResource; created: boolean }> {
  const passwordHash = await hashPassword(input.password)
  return needs.db.write(async (connection, onCommit) => {
    const id = await findExisting(needs, connection, actor, input)
    const link =
      id === undefined
        ? await createLinkIn(needs, connection, onCommit, actor, input, passwordHash)
        : await updateLinkIn(needs, connection, onCommit, actor, id, input, passwordHash)
    return { link, created: id === undefined }
  })
}

async function findExisting(
  { db, site }: LinkNeeds,
  connection: Connection,
  actor: Actor,
  input: CreateLinkInput,
): Promise<number | undefined> {
  // On PostgreSQL two upserts of the same thing run side by side: the workspace's row lets one wait for the other.
  const locked = db.engine === 'postgres' ? await lockWorkspace(connection, actor) : true
  if (!locked) throw unavailable(new Error('workspace is gone'))
  const mine = connection
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('deleted_at', 'is', null)
  const found = input.externalId
    ? mine.where('external_id', '=', input.externalId)
    : mine
        .where('domain', '=', resolveDomain(site, input.domain))
        .where('destination_url', '=', toLinkColumns(site, input, undefined).destination_url ?? '')
        .orderBy('id')
        .limit(1)
  return (await found.executeTakeFirst())?.id
}

async function lockWorkspace(connection: Connection, actor: Actor): Promise<boolean> {
  const row = await connection
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', actor.workspaceId)
    // Not FOR UPDATE: the foreign keys of links being made only want to see the row.
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}
