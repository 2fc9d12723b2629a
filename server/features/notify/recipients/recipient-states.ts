// Confirmation states of email recipients (docs/contract.md §16). A recipient confirms once in each workspace. Members
// of the workspace whose address is verified need not confirm, nor does the founder of the installation.

import type { Connection } from '../../../storage/database/open-database.ts'

/** `stopped`: the person wants no mails of this workspace, and is not asked again. */
export type RecipientState = 'confirmed' | 'unconfirmed' | 'stopped'

/** By address, as the channel writes it. */
export type RecipientStates = ReadonlyMap<string, RecipientState>

const toKey = (address: string) => address.toLowerCase()

export async function readRecipientStates(
  connection: Connection,
  workspaceId: number,
  addresses: string[],
): Promise<RecipientStates> {
  const keys = [...new Set(addresses.map(toKey))]
  if (keys.length === 0) return new Map()
  const rows = await connection
    .selectFrom('mail_recipients')
    .select(['email', 'confirmed_at', 'stopped_at'])
    .where('workspace_id', '=', workspaceId)
    .where('email', 'in', keys)
    .execute()
  const members = await connection
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('users.email')
    .where('members.workspace_id', '=', workspaceId)
    .where('users.email', 'in', keys)
    .where((e) => e.or([e('users.email_verified', '=', 1), e('users.founder', '=', 1)]))
    .execute()
  const states = new Map<string, RecipientState>(members.map(({ email }) => [email, 'confirmed']))
  for (const { email, confirmed_at, stopped_at } of rows) {
    if (stopped_at !== null) states.set(email, 'stopped')
    else if (confirmed_at !== null) states.set(email, 'confirmed')
  }
  return new Map(addresses.map((address) => [address, states.get(toKey(address)) ?? 'unconfirmed']))
}

export const pickRecipients = (states: RecipientStates, state: RecipientState): string[] =>
  [...states].filter(([, each]) => each === state).map(([address]) => address)
