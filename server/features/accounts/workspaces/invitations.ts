// Reads, lists and prunes invitations. The database has only the SHA-256 of a token; the token itself is in the link.

import { sql } from 'kysely'
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { notFound } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import type { Page } from '../../../lib/pagination.ts'
import type { Role } from '../../../lib/role.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'
import type { Actor } from '../access/actor.ts'
import type { InvitationResource, PageQueryInput } from '../schema.ts'

export const INVITATION_VALID_MS = 7 * DAY_MS
const KEPT_AFTER_EXPIRY_MS = 30 * DAY_MS
const ORDER = { name: 'invitations id desc', table: 'invitations' }

interface InvitationRow {
  id: number
  email: string
  role: string
  created_at: number
  expires_at: number
  inviter_id: number | null
  inviter_name: string | null
}

/**
 * Invitations that nobody has accepted. Expired ones are included, so that owners see which invitations were missed.
 */
export const selectInvitations = (connection: Connection, workspaceId: number) =>
  connection
    .selectFrom('invitations')
    .leftJoin('users', 'users.id', 'invitations.invited_by')
    .select([
      'invitations.id',
      'invitations.email',
      'invitations.role',
      'invitations.created_at',
      'invitations.expires_at',
      'users.id as inviter_id',
      'users.name as inviter_name',
    ])
    .where('invitations.workspace_id', '=', workspaceId)
    .where('invitations.accepted_at', 'is', null)

export const toInvitationResource = (row: InvitationRow): InvitationResource => ({
  id: row.id,
  email: row.email,
  role: row.role as Role,
  createdAt: toIso(row.created_at),
  expiresAt: toIso(row.expires_at),
  invitedBy: row.inviter_id === null ? null : { userId: row.inviter_id, name: row.inviter_name ?? '' },
})

/** @throws Failure `invalid` for a wrong cursor */
export async function listInvitations(
  { db }: { db: Database },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: PageQueryInput,
): Promise<Page<InvitationResource>> {
  const { rows, ...page } = await listNewest(selectInvitations(db.read, workspaceId), query, ORDER)
  return { data: rows.map(toInvitationResource), ...page }
}

export interface PendingInvitation {
  id: number
  workspaceId: number
  /** Name of the workspace. */
  workspace: string
  email: string
  role: Role
}

/** @throws Failure `not_found`, the same for an unknown, used, revoked or expired token */
export async function getInvitation(
  connection: Connection,
  token: string,
  now: number,
): Promise<PendingInvitation> {
  const row = await connection
    .selectFrom('invitations')
    .innerJoin('workspaces', 'workspaces.id', 'invitations.workspace_id')
    .select([
      'invitations.id',
      'invitations.email',
      'invitations.role',
      'workspaces.id as workspaceId',
      'workspaces.name as workspace',
    ])
    .where('token_hash', '=', sha256Hex(token))
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (!row) throw notFound('Invitation')
  return { ...row, role: row.role as Role }
}

/**
 * Deletes accepted invitations, and invitations that expired 30 days ago, because their addresses are no longer
 * needed.
 */
export async function pruneInvitations(db: Database, now: number): Promise<void> {
  await pruneInSlices(db, 'invitations', sql`accepted_at is not null`)
  await pruneInSlices(db, 'invitations', sql`expires_at < ${now - KEPT_AFTER_EXPIRY_MS}`)
}
