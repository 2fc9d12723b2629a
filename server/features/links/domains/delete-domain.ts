// Removes a domain. Its links must be gone before, or move to another domain.

import { Failure } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { type DomainNeeds, type DomainRow, describeDomain, getDomain, lockDomains } from './domain.ts'
import type { DomainResource } from './schema.ts'

/** @returns the domain as it was. @throws Failure `not_found`; `conflict` where it has links */
export async function deleteDomain(needs: DomainNeeds, actor: Actor, id: number): Promise<DomainResource> {
  allow(actor, 'domains:delete')
  const deleted = await needs.db.write(async (connection, onCommit) => {
    await lockDomains(connection, actor)
    const row = await getDomain(connection, actor, id)
    await requireNoLinks(connection, row)
    const resource = await describeDomain(needs, connection, actor, row)
    await connection
      .deleteFrom('domains')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .execute()
    const target = { type: 'domain', id, name: row.domain } as const
    await recordAudit(connection, actor, { action: 'domain.deleted', target }, needs.now())
    recordChange(onCommit, { workspaceId: actor.workspaceId })
    return resource
  })
  await needs.domains.reload()
  return deleted
}

/** @throws Failure `conflict` with the count. A link in the trash keeps its slug, so it counts too */
async function requireNoLinks(connection: Connection, { workspace_id, domain }: DomainRow): Promise<void> {
  const { n, trashed } = await connection
    .selectFrom('links')
    .select((e) => [e.fn.countAll<number>().as('n'), e.fn.count<number>('deleted_at').as('trashed')])
    .where('workspace_id', '=', workspace_id)
    .where('domain', '=', domain)
    .where('purged_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (Number(n) === 0) return
  const links = `${n} ${Number(n) === 1 ? 'link' : 'links'}`
  throw new Failure(
    'conflict',
    `${domain} has ${links}, ${trashed} of them in the trash. Delete them for good, or move them with ?moveTo=<domain id>.`,
  )
}
