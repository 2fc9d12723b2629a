// Reads one link of a workspace.

import { notFound } from '../../lib/failure.ts'
import type { Connection, Database, DatabaseEngine } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import type { LinkRow } from './link.ts'

/** @throws Failure `not_found`, for an unknown link and for a link of another workspace alike */
export async function getLink(connection: Connection, actor: Actor, id: number): Promise<LinkRow> {
  return (await selectLink(connection, actor, id).executeTakeFirst()) ?? throwNotFound()
}

/**
 * Reads a link that the transaction will change, and locks it. SQLite has one writer anyway. @throws Failure
 * `not_found`
 */
export async function getLinkForUpdate(
  { engine }: Pick<Database, 'engine'>,
  connection: Connection,
  actor: Actor,
  id: number,
): Promise<LinkRow> {
  return lock(engine, selectLink(connection, actor, id))
}

/** The same for a link that may be in the trash. */
export async function getUnpurgedForUpdate(
  { engine }: Pick<Database, 'engine'>,
  connection: Connection,
  actor: Actor,
  id: number,
): Promise<LinkRow> {
  return lock(engine, selectUnpurged(connection, actor, id))
}

async function lock(engine: DatabaseEngine, query: ReturnType<typeof selectUnpurged>): Promise<LinkRow> {
  const locked = engine === 'postgres' ? query.forNoKeyUpdate() : query
  return (await locked.executeTakeFirst()) ?? throwNotFound()
}

const selectUnpurged = (connection: Connection, actor: Actor, id: number) =>
  connection
    .selectFrom('links')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .where('purged_at', 'is', null)

/** Links in the trash are gone for everybody but the trash itself. */
const selectLink = (connection: Connection, actor: Actor, id: number) =>
  selectUnpurged(connection, actor, id).where('deleted_at', 'is', null)

function throwNotFound(): never {
  throw notFound('Link')
}
