// Changes the link with an external id or destination, or creates it.

import { hashPassword } from '../../lib/crypto/password.ts'
import { unavailable } from '../../lib/failure.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { lockWorkspace } from '../accounts/workspaces/lock-workspace.ts'
import { createLinkIn, type LinkNeeds, type LinkTransaction } from './create.ts'
import { resolveDomain } from './names/link-domain.ts'
import { toLinkColumns } from './rules.ts'
import type { CreateLinkInput, LinkResource } from './schema.ts'
import { updateLinkIn } from './update.ts'

/**
 * Finds the link by `externalId` when the request has one, else by domain and destination (with UTM values; the oldest
 * link wins).
 * @throws Failure `conflict`, `invalid`
 */
export async function upsertLink(
  needs: LinkNeeds,
  actor: Actor,
  input: CreateLinkInput,
): Promise<{ link: LinkResource; created: boolean }> {
  const passwordHash = await hashPassword(input.password, 'links')
  return needs.db.write(async (connection, onCommit) => {
    const transaction = { ...needs, connection, onCommit }
    const id = await findExisting(transaction, actor, input)
    const link =
      id === undefined
        ? await createLinkIn(transaction, actor, input, passwordHash)
        : await updateLinkIn(transaction, actor, id, input, { passwordHash })
    return { link, created: id === undefined }
  })
}

async function findExisting(
  { db, connection, site }: LinkTransaction,
  actor: Actor,
  input: CreateLinkInput,
): Promise<number | undefined> {
  // On PostgreSQL two upserts of the same link can run at the same time. A lock on the workspace's row makes one wait.
  const locked = db.engine === 'postgres' ? await lockWorkspace(connection, actor.workspaceId) : true
  if (!locked) throw unavailable(new Error('workspace is gone'))
  const ownLinks = connection
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('deleted_at', 'is', null)
  if (input.externalId)
    return (await ownLinks.where('external_id', '=', input.externalId).executeTakeFirst())?.id
  const domain = await resolveDomain({ connection, site }, actor, input.domain)
  const oldest = await ownLinks
    .where('domain', '=', domain.name)
    .where('destination_url', '=', toLinkColumns(site, input, undefined).destination_url ?? '')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return oldest?.id
}
