// Deletes a UTM template. Links that were filled with it keep their values.

import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import type { UtmTemplateResource } from './schema.ts'
import { getUtmTemplate, toUtmTemplateResource } from './utm-template.ts'

/** @returns the template as it was. @throws Failure `forbidden`, `not_found` */
export function deleteUtmTemplate(
  { db, now }: { db: Database; now: () => number },
  actor: Actor,
  id: number,
): Promise<UtmTemplateResource> {
  allow(actor, 'links:write')
  return db.write(async (connection) => {
    const row = await getUtmTemplate(connection, actor, id)
    await connection
      .deleteFrom('utm_templates')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .execute()
    const target = { type: 'utm_template', id, name: row.name } as const
    await recordAudit(connection, actor, { action: 'utm_template.deleted', target }, now())
    return toUtmTemplateResource(row)
  })
}
