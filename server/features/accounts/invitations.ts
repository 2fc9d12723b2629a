// Invitations: the rows, the resource and the list. Of the token in the link only its hash is kept.

import { createHash } from 'node:crypto'
import { notFound } from '../../lib/failure.ts'
import { iso } from '../../lib/wire.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import type { Actor, Role } from './actor.ts'
import { type Page, pageOf, startOf } from './pages.ts'
import type { InvitationResource, PageQueryInput } from './schema.ts'

export const INVITED_FOR_MS = 7 * 24 * 60 * 60 * 1000
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
export const invitations = (db: Db, workspaceId: number) =>
  db
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

export const invitationResource = (row: InvitationRow): InvitationResource => ({
  id: row.id,
  email: row.email,
  role: row.role as Role,
  createdAt: iso(row.created_at),
  expiresAt: iso(row.expires_at),
  invitedBy: row.inviter_id === null ? null : { userId: row.inviter_id, name: row.inviter ?? '' },
})

/** @throws Failure `invalid` for a wrong cursor */
export async function listInvitations(
  { rows }: { rows: Rows },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: PageQueryInput,
): Promise<Page<InvitationResource>> {
  const { limit, after } = startOf(query, ORDER)
  let page = invitations(rows.read, workspaceId)
  if (after !== undefined) page = page.where('invitations.id', '<', after)
  const found = await page
    .orderBy('invitations.id', 'desc')
    .limit(limit + 1)
    .execute()
  const total = await rows.read
    .selectFrom('invitations')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspaceId)
    .where('accepted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return pageOf(found, { limit, order: ORDER, total }, invitationResource)
}

export interface OpenInvitation {
  id: number
  workspaceId: number
  /** Its name. */
  workspace: string
  email: string
  role: Role
}

/** @throws Failure `not_found`, the same for a token that is unknown, used up, withdrawn or too old. */
export async function findInvitation(db: Db, token: string, now: number): Promise<OpenInvitation> {
  const row = await db
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
export async function forgetOldInvitations(rows: Rows, now: number): Promise<void> {
  await rows.write((db) =>
    db
      .deleteFrom('invitations')
      .where((e) =>
        e.or([e('accepted_at', 'is not', null), e('expires_at', '<', now - 30 * 24 * 60 * 60 * 1000)]),
      )
      .execute(),
  )
}
