// Senders whose submissions are never spam, in all forms of a workspace.

import type { Selectable } from 'kysely'
import { Failure } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import type { Page } from '../../../lib/pagination.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import type { Connection, Database, OnCommit } from '../../../storage/database/open-database.ts'
import type { AllowedSenders } from '../../../storage/database/tables/form-tables.ts'
import { type Action, type Actor, allow } from '../../accounts/access/actor.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { addToTotals } from './learn-spam.ts'
import type { AllowedSenderInput, AllowedSenderListQueryInput, AllowedSenderResource } from './schema.ts'
import type { WorkspaceSpamCache } from './workspace-spam.ts'

export interface AllowedSenderNeeds {
  spam: Pick<WorkspaceSpamCache, 'invalidate'>
}

/** The same right as for every setting of forms. */
const SENDERS_WRITE: Action = 'forms:write'
const ORDER = { name: 'allowed senders createdAt desc', table: 'allowed_senders', byCreation: true }
const UNCHANGED = { spam: 0, good: 0 }

/** @throws Failure `invalid` for a wrong cursor */
export async function listAllowedSenders(
  { db }: { db: Database },
  { workspaceId }: Actor,
  query: AllowedSenderListQueryInput,
): Promise<Page<AllowedSenderResource>> {
  const senders = db.read.selectFrom('allowed_senders').selectAll().where('workspace_id', '=', workspaceId)
  const { rows, ...page } = await listNewest(senders, query, ORDER)
  return { data: rows.map(toResource), ...page }
}

/** A sender that is allowed already stays as it is. @throws Failure `conflict` */
export function allowSender(
  { db, now, spam }: AllowedSenderNeeds & { db: Database; now: () => number },
  actor: Actor,
  { address }: AllowedSenderInput,
): Promise<AllowedSenderResource> {
  allow(actor, SENDERS_WRITE)
  const { workspaceId } = actor
  return db.write(async (connection, onCommit) => {
    const inserted = await connection
      .insertInto('allowed_senders')
      .values({ workspace_id: workspaceId, address, created_at: now() })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'address']).doNothing())
      .returningAll()
      .executeTakeFirst()
    if (inserted) {
      await requireRoom(connection, workspaceId, 'allowedSenders')
      await tellChange(connection, onCommit, { spam }, workspaceId)
      const target = { type: 'allowed_sender', id: inserted.id } as const
      await recordAudit(connection, actor, { action: 'allowed_sender.created', target }, now())
      return toResource(inserted)
    }
    const known = await connection
      .selectFrom('allowed_senders')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('address', '=', address)
      .executeTakeFirstOrThrow()
    return toResource(known)
  })
}

/** @returns the sender as it was. @throws Failure `not_found` */
export function deleteAllowedSender(
  { db, now, spam }: AllowedSenderNeeds & { db: Database; now: () => number },
  actor: Actor,
  id: number,
): Promise<AllowedSenderResource> {
  allow(actor, SENDERS_WRITE)
  return db.write(async (connection, onCommit) => {
    const deleted = await connection
      .deleteFrom('allowed_senders')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
    if (!deleted) throw new Failure('not_found', 'Allowed sender not found')
    await tellChange(connection, onCommit, { spam }, actor.workspaceId)
    const target = { type: 'allowed_sender', id } as const
    await recordAudit(connection, actor, { action: 'allowed_sender.deleted', target }, now())
    return toResource(deleted)
  })
}

/** Belongs to the erasure of a person. A whole domain stays allowed. */
export async function eraseAllowedSender(
  connection: Connection,
  onCommit: OnCommit,
  needs: AllowedSenderNeeds,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  email: string,
): Promise<void> {
  const { numDeletedRows } = await connection
    .deleteFrom('allowed_senders')
    .where('workspace_id', '=', workspaceId)
    .where('address', '=', email.toLowerCase())
    .executeTakeFirstOrThrow()
  if (numDeletedRows > 0n) await tellChange(connection, onCommit, needs, workspaceId)
}

/** Other nodes see the new revision. */
async function tellChange(
  connection: Connection,
  onCommit: OnCommit,
  { spam }: AllowedSenderNeeds,
  workspaceId: number,
): Promise<void> {
  await addToTotals(connection, workspaceId, UNCHANGED)
  onCommit(() => spam.invalidate(workspaceId))
}

const toResource = ({ id, address, created_at: at }: Selectable<AllowedSenders>): AllowedSenderResource => ({
  id,
  address,
  createdAt: toIso(at),
})
