// Workspaces and their plans, and the end of a workspace.

import { notFound } from '../../../lib/failure.ts'
import type { Plan } from '../../../lib/plan.ts'
import { randomFrom } from '../../../lib/random.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'

const PUBLIC_ID_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'

export async function createWorkspace(
  { db, now }: { db: Database; now: () => number },
  { name, plan }: { name: string; plan: Plan },
): Promise<{ id: number; publicId: string; name: string; plan: Plan }> {
  const at = now()
  const publicId = `ws_${randomFrom(PUBLIC_ID_ALPHABET, 16)}`
  const { id } = await db.write((connection) =>
    connection
      .insertInto('workspaces')
      .values({ public_id: publicId, name, plan, created_at: at, updated_at: at })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  return { id, publicId, name, plan }
}

/** @throws `not_found` */
export async function changePlan(
  { db, now }: { db: Database; now: () => number },
  workspaceId: number,
  plan: Plan,
): Promise<{ id: number; publicId: string; name: string; plan: Plan }> {
  const row = await db.write((connection) =>
    connection
      .updateTable('workspaces')
      .set({ plan, updated_at: now() })
      .where('id', '=', workspaceId)
      .returning(['id', 'public_id', 'name'])
      .executeTakeFirst(),
  )
  if (!row) throw notFound('Workspace')
  return { id: row.id, publicId: row.public_id, name: row.name, plan }
}

export interface WorkspaceContents {
  id: number
  publicId: string
  name: string
  links: number
  tags: number
  keys: number
}

/** What goes when the workspace goes, besides its clicks. @throws `not_found` */
export function getWorkspaceContents({ db }: { db: Database }, id: number): Promise<WorkspaceContents> {
  return countContents(db.read, id)
}

/**
 * Removes a workspace and everything of it in the rows at once, and leaves a mark by which servers end its redirects
 * and remove its clicks. Nothing brings it back. @throws `not_found`
 */
export function deleteWorkspace(
  { db, now }: { db: Database; now: () => number },
  id: number,
): Promise<WorkspaceContents> {
  return db.write(async (connection) => {
    const contents = await countContents(connection, id)
    // Its keys, links, tags and all else go with it: every such table refers to it with "on delete cascade".
    await connection.deleteFrom('workspaces').where('id', '=', id).execute()
    await connection.insertInto('erasures').values({ workspace_id: id, requested_at: now() }).execute()
    return contents
  })
}

async function countContents(connection: Connection, id: number): Promise<WorkspaceContents> {
  const workspace = await connection
    .selectFrom('workspaces')
    .select(['id', 'public_id as publicId', 'name'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!workspace) throw notFound('Workspace')
  const count = async (table: 'links' | 'tags' | 'api_keys') => {
    const { n } = await connection
      .selectFrom(table)
      .select((e) => e.fn.countAll<number>().as('n'))
      .where('workspace_id', '=', id)
      .executeTakeFirstOrThrow()
    return Number(n)
  }
  return {
    ...workspace,
    links: await count('links'),
    tags: await count('tags'),
    keys: await count('api_keys'),
  }
}
