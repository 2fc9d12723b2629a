// Changes the plan of a workspace. Only the operator can do this.

import { notFound } from '../../../lib/failure.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Database } from '../../../storage/database/open-database.ts'

/** @throws Failure `not_found` */
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
