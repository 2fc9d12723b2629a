// Invitations: the rows, the resource and the list. Of the token in the link only its hash is kept.

import { createHash } from 'node:crypto'
import { toIso } from '../../../lib/api-fields.ts'
import { notFound } from '../../../lib/failure.ts'
import { type Page, readPageQuery, toPage } from '../../../lib/pagination.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Actor, Role } from '../access/actor.ts'
import type { InvitationResource, PageQueryInput } from '../schema.ts'

export const INVITATION_VALID_MS = 7 * 24 * 60 * 60 * 1000
const ORDER = 'invitations id desc'

/** A fast hash is right for 256 random bits, and what is looked up is never the token itself. */
export const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')

interface InvitationRow {
  id: number
  email: string
  role: string
  created_at: number
  expires_at: number
  inviter_id: number | null
  inviter: string | null
}

/** Those that have not been accepted, expired ones too: who invited somebody wants to see that nobody came. */
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
      'users.name as inviter',
    ])
    .where('invitations.workspace_id', '=', workspaceId)
    .where('invitations.accepted_at', 'is', null)

export const toInvitationResource = (row: InvitationRow): InvitationResource => ({
  id: row.id,
  email: row.email,
  role: row.role as Role,
  createdAt: toIso(row.created_at),
  expiresAt: toIso(row.expires_at),
  invitedBy: row.inviter_id === null ? null : { userId: row.inviter_id, name: row.inviter ?? '' },
})

/** @throws Failure `invalid` for a wrong cursor */
export async function listInvitations(
  { db }: { db: Database },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: PageQueryInput,
): Promise<Page<InvitationResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  let page = selectInvitations(db.read, workspaceId)
  if (after !== undefined) page = page.where('invitations.id', '<', after)
  const found = await page
    .orderBy('invitations.id', 'desc')
    .limit(limit + 1)
    .execute()
  const total = await db.read
    .selectFrom('invitations')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspaceId)
    .where('accepted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return toPage(found, { limit, order: ORDER, total }, toInvitationResource)
}

export interface PendingInvitation {
  id: number
  workspaceId: number
  /** Its name. */
  workspace: string
  email: string
  role: Role
}

/** @throws Failure `not_found`, the same for a token that is unknown, used up, withdrawn or too old. */
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
    .where('token_hash', '=', hashToken(token))
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (!row) throw notFound('Invitation')
  return { ...row, role: row.role as Role }
}

/** A month after nobody came, the address is nobody's business any more; who came is a member. */
export async function pruneInvitations(db: Database, now: number): Promise<void> {
  await db.write((connection) =>
    connection
      .deleteFrom('invitations')
      .where((e) =>
        e.or([e('accepted_at', 'is not', null), e('expires_at', '<', now - 30 * 24 * 60 * 60 * 1000)]),
      )
      .execute(),
  )
}
