// Creates a workspace: without people for the operator, or with its owner.

import { randomFrom } from '../../../lib/crypto/random.ts'
import type { Plan } from '../../../lib/plan.ts'
import { toNestedDatabase } from '../../../storage/database/nested-database.ts'
import type { Connection, Database, OnCommit } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import { recordAudit } from '../audit/record-audit.ts'

const PUBLIC_ID_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'

interface Needs {
  db: Database
  now: () => number
}

export interface NewWorkspace {
  name: string
  plan: Plan
}

/** Creates a workspace that has no members yet. @param createdBy the id of a person; the operator when absent */
export async function createWorkspace(
  { db, now }: Needs,
  { name, plan }: NewWorkspace,
  createdBy?: number,
): Promise<{ id: number; publicId: string; name: string; plan: Plan }> {
  const at = now()
  const publicId = `ws_${randomFrom(PUBLIC_ID_ALPHABET, 16)}`
  const { id } = await db.write(async (connection, onCommit) => {
    const row = await connection
      .insertInto('workspaces')
      .values({ public_id: publicId, name, plan, created_at: at, updated_at: at })
      .returning('id')
      .executeTakeFirstOrThrow()
    const workspaceId = row.id
    recordChange(onCommit, { workspaceId })
    const actor =
      createdBy === undefined
        ? ({ kind: 'operator', workspaceId } as const)
        : ({ kind: 'user', workspaceId, userId: createdBy } as const)
    const target = { type: 'workspace', id: workspaceId, name } as const
    await recordAudit(connection, actor, { action: 'workspace.created', target, detail: { plan } }, at)
    return row
  })
  return { id, publicId, name, plan }
}

/** Creates a workspace with its owner, inside an open transaction. @returns the id of the workspace */
export async function createWorkspaceWithOwnerIn(
  connection: Connection,
  onCommit: OnCommit,
  { db, now }: Needs,
  { ownerId, ...workspace }: NewWorkspace & { ownerId: number },
): Promise<number> {
  const inTransaction = { db: toNestedDatabase(db, connection, onCommit), now }
  const { id } = await createWorkspace(inTransaction, workspace, ownerId)
  await connection
    .insertInto('members')
    .values({ workspace_id: id, user_id: ownerId, role: 'owner', created_at: now() })
    .execute()
  return id
}
