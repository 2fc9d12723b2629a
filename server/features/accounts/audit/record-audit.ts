// Appends to the audit log of a workspace, in the transaction of the change that the event is about: a change that is
// rolled back leaves no event. Events have no secrets, no addresses of networks and no texts of visitors.

import type { Connection } from '../../../storage/database/open-database.ts'
import type { AuditAction } from './actions.ts'

/** The person or key that acts, and the workspace. Every `Actor` of the API is one. */
export type AuditActor =
  | { kind: 'user'; workspaceId: number; userId: number }
  | { kind: 'key'; workspaceId: number; keyId: number | null }
  /** The operator on the command line, or a job of the server. */
  | { kind: 'operator' | 'system'; workspaceId: number }

export interface AuditTarget {
  type:
    | 'key'
    | 'member'
    | 'invitation'
    | 'workspace'
    | 'channel'
    | 'domain'
    | 'form'
    | 'link'
    | 'tag'
    | 'view'
    | 'utm_template'
    | 'submission'
    | 'outcome'
    | 'allowed_sender'
    | 'import'
  id?: number | string | null
  /** The name for people: the name of a key, an address of a member, a short link. */
  name?: string | null
}

export interface AuditEntry {
  action: AuditAction
  target?: AuditTarget
  /** A few small facts. */
  detail?: Record<string, string | number | boolean | null | readonly string[]>
}

const NAME_MAX = 200
/** SQLite takes 32,766 values in one statement, and an event has ten. */
const WORKSPACES_MAX = 1000

/** @param at the time of the change */
export async function recordAudit(
  connection: Connection,
  actor: AuditActor,
  entry: AuditEntry,
  at: number,
): Promise<void> {
  await connection
    .insertInto('audit_events')
    .values({
      workspace_id: actor.workspaceId,
      ...(await describeActor(connection, actor)),
      ...toEntryColumns(entry),
      at,
    })
    .execute()
}

/**
 * Records an event of an account in each workspace of its person.
 * @param by `unknown` for a person who has not proved their identity
 */
export async function recordAccountAudit(
  connection: Connection,
  userId: number,
  entry: AuditEntry,
  at: number,
  by: 'person' | 'operator' | 'unknown' = 'person',
): Promise<void> {
  const workspaces = await connection
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['members.workspace_id', 'users.email'])
    .where('members.user_id', '=', userId)
    .orderBy('members.workspace_id')
    .limit(WORKSPACES_MAX)
    .execute()
  if (workspaces.length === 0) return
  const columns = { ...toEntryColumns(entry), actor_type: by, at }
  await connection
    .insertInto('audit_events')
    .values(
      workspaces.map(({ workspace_id, email }) => ({
        ...columns,
        workspace_id,
        actor_id: by === 'person' ? userId : null,
        actor_name: by === 'person' ? email : null,
      })),
    )
    .execute()
}

/** Stores the current name, so that the event keeps it after the person or the key is gone. */
async function describeActor(connection: Connection, actor: AuditActor) {
  if (actor.kind === 'user') {
    const user = await connection
      .selectFrom('users')
      .select('email')
      .where('id', '=', actor.userId)
      .executeTakeFirst()
    return { actor_type: 'person', actor_id: actor.userId, actor_name: user?.email ?? null }
  }
  if (actor.kind !== 'key' || actor.keyId === null)
    return { actor_type: actor.kind, actor_id: null, actor_name: null }
  const key = await connection
    .selectFrom('api_keys')
    .select('name')
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', actor.keyId)
    .executeTakeFirst()
  return { actor_type: 'key', actor_id: actor.keyId, actor_name: key?.name ?? null }
}

const toEntryColumns = ({ action, target, detail = {} }: AuditEntry) => ({
  action,
  target_type: target?.type ?? null,
  target_id: target?.id === undefined || target.id === null ? null : String(target.id),
  target_name: target?.name?.slice(0, NAME_MAX) ?? null,
  detail: JSON.stringify(detail),
})
