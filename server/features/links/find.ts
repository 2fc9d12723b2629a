// One link of a workspace.

import { notFound } from '../../lib/failure.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import type { Actor } from '../accounts/actor.ts'
import type { LinkRow } from './link.ts'

/** @throws Failure `not_found`, the same for another workspace's link as for none. */
export async function findLink(db: Db, actor: Actor, id: number): Promise<LinkRow> {
  return (await living(db, actor, id).executeTakeFirst()) ?? missing()
}

/** The same inside a transaction that will change it: another one that would, waits. SQLite has one writer anyway. */
export async function findLinkToChange(
  { engine }: Pick<Rows, 'engine'>,
  db: Db,
  actor: Actor,
  id: number,
): Promise<LinkRow> {
  const found = living(db, actor, id)
  const held = engine === 'postgres' ? found.forNoKeyUpdate() : found
  return (await held.executeTakeFirst()) ?? missing()
}

const living = (db: Db, actor: Actor, id: number) =>
  db
    .selectFrom('links')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)

function missing(): never {
  throw notFound('Link')
}
