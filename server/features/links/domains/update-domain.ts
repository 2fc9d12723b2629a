// Changes the settings of a domain: an absent field keeps its value, and null clears it.

import { invalid } from '../../../lib/failure.ts'
import type { Connection, OnCommit } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { type DomainNeeds, type DomainRow, describeDomain, getDomain, lockDomains } from './domain.ts'
import { toDomainColumns } from './domain-columns.ts'
import type { DomainResource, UpdateDomainInput } from './schema.ts'

/** @throws Failure `not_found`, `invalid` */
export async function updateDomain(
  needs: DomainNeeds,
  actor: Actor,
  id: number,
  { primary, ...settings }: UpdateDomainInput,
): Promise<DomainResource> {
  allow(actor, 'links:write')
  const columns: Partial<DomainRow> = toDomainColumns(needs.site, settings)
  const updated = await needs.db.write(async (connection, onCommit) => {
    await lockDomains(connection, actor)
    const row = await getDomain(connection, actor, id)
    if (primary !== undefined) columns.is_primary = await choosePrimary(connection, row, primary === true)
    const changed = Object.keys(columns).filter(
      (name) => columns[name as keyof DomainRow] !== row[name as keyof DomainRow],
    )
    if (changed.length === 0) return row
    return storeSettings({ ...needs, connection, onCommit }, actor, row, columns)
  })
  await needs.domains.reload()
  return describeDomain(needs, updated)
}

/** Takes the place of the primary domain from another one. @throws Failure `invalid` */
async function choosePrimary(connection: Connection, row: DomainRow, primary: boolean): Promise<0 | 1> {
  if (!primary) return 0
  if (row.verified_at === null) throw invalid({ primary: 'needs a verified domain: verify this one first' })
  await connection
    .updateTable('domains')
    .set({ is_primary: 0 })
    .where('workspace_id', '=', row.workspace_id)
    .where('is_primary', '=', 1)
    .where('id', '<>', row.id)
    .execute()
  return 1
}

async function storeSettings(
  needs: DomainNeeds & { connection: Connection; onCommit: OnCommit },
  actor: Actor,
  row: DomainRow,
  columns: Partial<DomainRow>,
): Promise<DomainRow> {
  const { connection, onCommit } = needs
  const at = needs.now()
  const stored = await connection
    .updateTable('domains')
    .set({ ...columns, updated_at: at })
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  const target = { type: 'domain', id: row.id, name: row.domain } as const
  await recordAudit(connection, actor, { action: 'domain.updated', target }, at)
  recordChange(onCommit, { workspaceId: actor.workspaceId })
  return stored
}
