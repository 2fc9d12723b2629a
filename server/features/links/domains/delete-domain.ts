// Removes a domain. Its links must be gone before, or move to another domain.

import { Failure } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import { type Actor, allow, hasScopes } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { type DomainNeeds, type DomainRow, getDomain, lockDomains, toDomainResource } from './domain.ts'
import { countDomainLinks, hasLinks } from './domain-links.ts'
import { findMoveTarget, moveLinks } from './move-links.ts'
import type { DomainResource } from './schema.ts'

/** Links that are made while the others move need another round. */
const ROUNDS = 5

/**
 * @param moveTo the id of a domain, or `default` @returns the domain as it was, without links. @throws Failure `not_found`,
 * `invalid`; `conflict` where links stay; `forbidden` for a suspended link
 */
export async function deleteDomain(
  needs: DomainNeeds,
  actor: Actor,
  id: number,
  moveTo?: string,
): Promise<DomainResource> {
  allow(actor, 'domains:delete')
  const row = await getDomain(needs.db.read, actor, id)
  const target = moveTo === undefined ? undefined : await findMoveTarget(needs, actor, row, moveTo)
  let moved = 0
  for (let round = 0; round < ROUNDS; round++) {
    if (target) moved += await moveLinks(needs, actor, row, target)
    const deleted = await deleteEmptyDomain(
      needs,
      actor,
      id,
      target ? { links: moved, movedTo: target.name } : {},
    )
    if (deleted) {
      await needs.domains.reload()
      return toDomainResource(needs, deleted, 0)
    }
    if (!target) break
  }
  throw await domainInUse(needs, actor, row)
}

/** @returns undefined where the domain has links. A link in the trash keeps its slug, so it counts too */
function deleteEmptyDomain(
  { db, now }: DomainNeeds,
  actor: Actor,
  id: number,
  detail: Record<string, string | number>,
): Promise<DomainRow | undefined> {
  allow(actor, 'domains:delete')
  return db.write(async (connection, onCommit) => {
    await lockDomains(connection, actor)
    await lockAgainstLinks(db, connection, actor, id)
    const row = await getDomain(connection, actor, id)
    if (await hasLinks(connection, row)) return undefined
    await connection
      .deleteFrom('domains')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .execute()
    const target = { type: 'domain', id, name: row.domain } as const
    await recordAudit(connection, actor, { action: 'domain.deleted', target, detail }, now())
    recordChange(onCommit, { workspaceId: actor.workspaceId })
    return row
  })
}

/** Waits for links that are made on the domain at this moment: they hold its row (names/link-domain.ts). */
async function lockAgainstLinks(
  { engine }: Pick<DomainNeeds['db'], 'engine'>,
  connection: Connection,
  { workspaceId }: Actor,
  id: number,
) {
  if (engine === 'sqlite') return
  await connection
    .selectFrom('domains')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forUpdate()
    .execute()
}

/** Counts for a caller who may read. */
async function domainInUse({ db }: DomainNeeds, actor: Actor, row: DomainRow) {
  const { links, trashed } = await countDomainLinks(db.read, row)
  const all = links + trashed
  const counted = `${all} ${all === 1 ? 'link' : 'links'}, ${trashed} of them in the trash`
  return new Failure(
    'conflict',
    `${hasScopes(actor, 'links:read') ? `${row.domain} has ${counted}` : 'The domain has links'}. Delete them for good, or move them with moveTo (in a terminal --move-to): the id of another domain, or default.`,
  )
}
