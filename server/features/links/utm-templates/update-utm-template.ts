// Changes a UTM template. Links that were filled with it keep their values.

import { isUniqueViolation } from '../../../storage/database/errors.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import type { UtmTemplateInput, UtmTemplateResource } from './schema.ts'
import {
  getUtmTemplate,
  toUtmTemplateColumns,
  toUtmTemplateResource,
  utmTemplateConflict,
} from './utm-template.ts'

/** @throws Failure `forbidden`, `not_found`, `invalid`, `conflict` */
export function updateUtmTemplate(
  { db, now }: { db: Database; now: () => number },
  actor: Actor,
  id: number,
  input: UtmTemplateInput,
): Promise<UtmTemplateResource> {
  allow(actor, 'links:write')
  return db.write(async (connection) => {
    const row = await getUtmTemplate(connection, actor, id)
    const fields = Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    if (fields.length === 0) return toUtmTemplateResource(row)
    const at = now()
    const columns = { ...toUtmTemplateColumns(input, row), updated_at: Math.max(at, row.updated_at + 1) }
    try {
      await connection
        .updateTable('utm_templates')
        .set(columns)
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', id)
        .execute()
    } catch (error) {
      throw isUniqueViolation(error) ? utmTemplateConflict() : error
    }
    const target = { type: 'utm_template', id, name: columns.name } as const
    const detail = { fields: fields.sort() }
    await recordAudit(connection, actor, { action: 'utm_template.updated', target, detail }, at)
    return toUtmTemplateResource({ ...row, ...columns })
  })
}
