// One link of a workspace.

import { notFound } from '../../lib/failure.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import type { LinkRow } from './link.ts'

/** @throws Failure `not_found`, the same for another workspace's link as for none. */
export async function getLink(connection: Connection, actor: Actor, id: number): Promise<LinkRow> {
  return (await selectLink(connection, actor, id).executeTakeFirst()) ?? throwNotFound()
}

/** The same inside a transaction that will change it: another one that would, waits. SQLite has one writer anyway. */
export async function getLinkForUpdate(
  { engine }: Pick<Database, 'engine'>,
  connection: Connection,
  actor: Actor,
  id: number,
): Promise<LinkRow> {
  const found = selectLink(connection, actor, id)
  const held = engine === 'postgres' ? found.forNoKeyUpdate() : found
  return (await held.executeTakeFirst()) ?? throwNotFound()
}

const selectLink = (connection: Connection, actor: Actor, id: number) =>
  connection
    .selectFrom('links')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)

function throwNotFound(): never {
  throw notFound('Link')
}
