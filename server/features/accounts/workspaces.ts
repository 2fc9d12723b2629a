// Workspaces and their plans.

import { notFound } from '../../lib/failure.ts'
import type { Plan } from '../../lib/plan.ts'
import { randomFrom } from '../../lib/random.ts'
import type { Rows } from '../../storage/rows/open.ts'

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
