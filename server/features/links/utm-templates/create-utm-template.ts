// Creates a UTM template in a workspace.

import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import type { UtmTemplateInput, UtmTemplateResource } from './schema.ts'
import { toUtmTemplateColumns, toUtmTemplateResource, utmTemplateConflict } from './utm-template.ts'

/** @throws Failure `forbidden`, `invalid`, `conflict` */
export function createUtmTemplate(
  { db, now }: { db: Database; now: () => number },
  actor: Actor,
  input: UtmTemplateInput,
): Promise<UtmTemplateResource> {
  allow(actor, 'links:write')
  const columns = toUtmTemplateColumns(input)
  return db.write(async (connection) => {
    const at = now()
    const row = await connection
      .insertInto('utm_templates')
      .values({ ...columns, workspace_id: actor.workspaceId, created_at: at, updated_at: at })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!row) throw utmTemplateConflict()
    await requireRoom(connection, actor.workspaceId, 'utmTemplates')
    const target = { type: 'utm_template', id: row.id, name: row.name } as const
    await recordAudit(connection, actor, { action: 'utm_template.created', target }, at)
    return toUtmTemplateResource(row)
  })
}
