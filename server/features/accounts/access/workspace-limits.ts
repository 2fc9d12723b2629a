// Maximum number of each resource in a workspace, and of workspaces per person (docs/contract.md §16). The limits are
// far above people's needs: they stop programs that fill the database.

import { Failure } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'

const LIMITS = {
  keys: { most: 100, table: 'api_keys', noun: 'API keys', remedy: 'Revoke one first' },
  members: { most: 500, table: 'members', noun: 'members', remedy: 'Remove one first' },
  invitations: { most: 500, table: 'invitations', noun: 'open invitations', remedy: 'Revoke one first' },
  channels: { most: 200, table: 'channels', noun: 'channels', remedy: 'Delete one first' },
  forms: { most: 1000, table: 'forms', noun: 'forms', remedy: 'Delete one first' },
  domains: { most: 1000, table: 'domains', noun: 'domains', remedy: 'Remove one first' },
  allowedSenders: {
    most: 1000,
    table: 'allowed_senders',
    noun: 'allowed senders',
    remedy: 'Delete one first',
  },
  tags: { most: 5000, table: 'tags', noun: 'tags', remedy: 'Delete one first' },
  utmTemplates: {
    most: 200,
    table: 'utm_templates',
    noun: 'UTM templates',
    remedy: 'Delete one first',
  },
  views: { most: 500, table: 'views', noun: 'views', remedy: 'Delete one first' },
} as const

export const OWNED_WORKSPACES_MAX = 20

/**
 * Call it in the transaction, after the insert. On PostgreSQL transactions at the same moment do not see each other, and
 * can exceed the limit by their number. @throws Failure `conflict`
 */
export async function requireRoom(
  connection: Connection,
  workspaceId: number,
  kind: keyof typeof LIMITS,
): Promise<void> {
  const { most, table, noun, remedy } = LIMITS[kind]
  let rows = connection
    .selectFrom(table as 'api_keys')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspaceId)
  if (kind === 'keys') rows = rows.where('revoked_at', 'is', null)
  // The hidden channel of replies (notify/outbox/enqueue-reply.ts) is no channel to people.
  if (kind === 'channels') rows = rows.where('type' as 'name', '<>', 'reply')
  if (kind === 'invitations') rows = rows.where('accepted_at' as 'revoked_at', 'is', null)
  const { n } = await rows.executeTakeFirstOrThrow()
  if (Number(n) > most)
    throw new Failure('conflict', `A workspace has at most ${most.toLocaleString('en')} ${noun}. ${remedy}.`)
}

/** Call it after the insert too. @throws Failure `conflict` */
export async function requireRoomForWorkspace(connection: Connection, userId: number): Promise<void> {
  const { n } = await connection
    .selectFrom('members')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('user_id', '=', userId)
    .where('role', '=', 'owner')
    .executeTakeFirstOrThrow()
  if (Number(n) > OWNED_WORKSPACES_MAX)
    throw new Failure(
      'conflict',
      `You own ${OWNED_WORKSPACES_MAX} workspaces, which is the maximum. Delete one first.`,
    )
}
