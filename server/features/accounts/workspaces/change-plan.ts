// Changes the plan of a workspace. Only the operator can do this.

import { notFound } from '../../../lib/failure.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { recordAudit } from '../audit/record-audit.ts'

/** @throws Failure `not_found` */
export async function changePlan(
  { db, now }: { db: Database; now: () => number },
  workspaceId: number,
  plan: Plan,
): Promise<{ id: number; publicId: string; name: string; plan: Plan }> {
  return db.write(async (connection) => {
    const before = await connection
      .selectFrom('workspaces')
      .select(['id', 'public_id', 'name', 'plan'])
      .where('id', '=', workspaceId)
      .executeTakeFirst()
    if (!before) throw notFound('Workspace')
    const at = now()
    await connection
      .updateTable('workspaces')
      .set({ plan, updated_at: at })
      .where('id', '=', workspaceId)
      .execute()
    if (before.plan !== plan) {
      const detail = { from: before.plan, to: plan }
      const operator = { kind: 'operator', workspaceId } as const
      await recordAudit(connection, operator, { action: 'workspace.plan_changed', detail }, at)
    }
    return { id: before.id, publicId: before.public_id, name: before.name, plan }
  })
}
