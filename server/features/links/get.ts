// Reads one link of a workspace.

import { notFound } from '../../lib/failure.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { selectLinks, toLinkRow } from './counters.ts'
import type { LinkRow } from './link.ts'

/** @throws Failure `not_found`, for an unknown link and for a link of another workspace alike */
export async function getLink(connection: Connection, actor: Actor, id: number): Promise<LinkRow> {
  const link = await selectUnpurged(connection, actor, id)
    .where('links.deleted_at', 'is', null)
    .executeTakeFirst()
  return link ? toLinkRow(link) : throwNotFound()
}

/**
 * Reads a link that the transaction will change, and locks it. SQLite has one writer anyway. @throws Failure
 * `not_found`
 */
export async function getLinkForUpdate(
  db: Pick<Database, 'engine'>,
  connection: Connection,
  actor: Actor,
  id: number,
): Promise<LinkRow> {
  const link = await getUnpurgedForUpdate(db, connection, actor, id)
  // Links in the trash are gone for everybody but the trash itself.
  return link.deleted_at === null ? link : throwNotFound()
}

/** The same for a link that may be in the trash. */
export async function getUnpurgedForUpdate(
  { engine }: Pick<Database, 'engine'>,
  connection: Connection,
  actor: Actor,
  id: number,
): Promise<LinkRow> {
  // The lock comes first, in a separate statement, so that no click moves between the two tables of counters.
  if (engine === 'postgres') await lockLink(connection, actor, id)
  const link = await selectUnpurged(connection, actor, id).executeTakeFirst()
  return link ? toLinkRow(link) : throwNotFound()
}

const lockLink = (connection: Connection, { workspaceId }: Actor, id: number) =>
  connection
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()

const selectUnpurged = (connection: Connection, actor: Actor, id: number) =>
  selectLinks(connection)
    .where('links.workspace_id', '=', actor.workspaceId)
    .where('links.id', '=', id)
    .where('links.purged_at', 'is', null)

function throwNotFound(): never {
  throw notFound('Link')
}
