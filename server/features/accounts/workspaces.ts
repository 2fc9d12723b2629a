// Workspaces and their plans, and the end of a workspace.

import { notFound } from '../../lib/failure.ts'
import type { Plan } from '../../lib/plan.ts'
import { randomFrom } from '../../lib/random.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'

const PUBLIC_ID_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'

export async function createWorkspace(
  { rows, now }: { rows: Rows; now: () => number },
  { name, plan }: { name: string; plan: Plan },
): Promise<{ id: number; publicId: string; name: string; plan: Plan }> {
  const at = now()
  const publicId = `ws_${randomFrom(PUBLIC_ID_ALPHABET, 16)}`
  const { id } = await rows.write((db) =>
    db
      .insertInto('workspaces')
      .values({ public_id: publicId, name, plan, created_at: at, updated_at: at })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  return { id, publicId, name, plan }
}

/** @throws `not_found` */
export async function changePlan(
  { rows, now }: { rows: Rows; now: () => number },
  workspaceId: number,
  plan: Plan,
): Promise<{ id: number; publicId: string; name: string; plan: Plan }> {
  const row = await rows.write((db) =>
    db
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
export function contentsOfWorkspace({ rows }: { rows: Rows }, id: number): Promise<WorkspaceContents> {
  return countContents(rows.read, id)
}

/**
 * Removes a workspace and everything of it in the rows at once, and leaves a mark by which servers end its redirects
 * and remove its clicks. Nothing brings it back. @throws `not_found`
 */
export function deleteWorkspace(
  { rows, now }: { rows: Rows; now: () => number },
  id: number,
): Promise<WorkspaceContents> {
  return rows.write(async (db) => {
    const contents = await countContents(db, id)
    // Its keys, links, tags and all else go with it: every such table refers to it with "on delete cascade".
    await db.deleteFrom('workspaces').where('id', '=', id).execute()
    await db.insertInto('erasures').values({ workspace_id: id, requested_at: now() }).execute()
    return contents
  })
}

async function countContents(db: Db, id: number): Promise<WorkspaceContents> {
  const workspace = await db
    .selectFrom('workspaces')
    .select(['id', 'public_id as publicId', 'name'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!workspace) throw notFound('Workspace')
  const count = async (table: 'links' | 'tags' | 'api_keys') => {
    const { n } = await db
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
