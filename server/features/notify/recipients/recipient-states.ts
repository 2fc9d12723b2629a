// Confirmation states of email recipients (docs/contract.md §16). A recipient confirms once in each workspace. Members
// of the workspace whose address is verified need not confirm, nor does the founder of the installation.

import type { Connection } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareQuery } from '../../../storage/database/prepare-query.ts'

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
  const rows = await selectRecipients(connection, { workspaceId, keys })
  const members = await selectMembers(connection, { workspaceId, keys })
  const states = new Map<string, RecipientState>(members.map(({ email }) => [email, 'confirmed']))
  for (const { email, confirmed_at, stopped_at } of rows) {
    if (stopped_at !== null) states.set(email, 'stopped')
    else if (confirmed_at !== null) states.set(email, 'confirmed')
  }
  return new Map(addresses.map((address) => [address, states.get(toKey(address)) ?? 'unconfirmed']))
}

interface StatesQuery extends Record<string, unknown> {
  workspaceId: number
  /** Addresses in lower case. */
  keys: string[]
}

const selectRecipients = prepareQuery((connection, { workspaceId, keys }: StatesQuery) =>
  connection
    .selectFrom('mail_recipients')
    .select(['email', 'confirmed_at', 'stopped_at'])
    .where('workspace_id', '=', workspaceId)
    .where(isOneOf(connection, 'email', keys)),
)

const selectMembers = prepareQuery((connection, { workspaceId, keys }: StatesQuery) =>
  connection
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('users.email')
    .where('members.workspace_id', '=', workspaceId)
    .where(isOneOf(connection, 'users.email', keys))
    .where((e) => e.or([e('users.email_verified', '=', 1), e('users.founder', '=', 1)])),
)

export const pickRecipients = (states: RecipientStates, state: RecipientState): string[] =>
  [...states].filter(([, each]) => each === state).map(([address]) => address)
