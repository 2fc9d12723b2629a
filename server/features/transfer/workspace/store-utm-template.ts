// Stores a UTM template of an archive, unless the workspace has one with this name.

import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { CreateUtmTemplate } from '../../links/utm-templates/schema.ts'
import { toUtmTemplateColumns } from '../../links/utm-templates/utm-template.ts'
import type { ArchiveRecord } from '../archive/record-schemas.ts'
import { type RecordOutcome, type RecordTransaction, toCreated, toSkipped } from './archive-import.ts'
import { parseInput } from './parse-input.ts'

export async function storeUtmTemplate(
  { run: { actor, needs }, connection }: RecordTransaction,
  record: ArchiveRecord<'utm-templates.ndjson'>,
): Promise<RecordOutcome> {
  const { id: _, createdAt, updatedAt, ...fields } = record
  const input = parseInput(CreateUtmTemplate, fields)
  const item = { kind: 'utmTemplate', name: input.name } as const
  const at = needs.now()
  const row = await connection
    .insertInto('utm_templates')
    .values({
      ...toUtmTemplateColumns(input),
      workspace_id: actor.workspaceId,
      created_at: Math.min(createdAt, at),
      updated_at: Math.min(updatedAt, at),
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
    .returning(['id', 'updated_at'])
    .executeTakeFirst()
  if (!row) return toSkipped(item, 'The workspace has a UTM template of this name.')
  await requireRoom(connection, actor.workspaceId, 'utmTemplates')
  const target = { type: 'utm_template', id: row.id, name: input.name } as const
  await recordAudit(connection, actor, { action: 'utm_template.created', target }, at)
  return toCreated(item, row)
}
