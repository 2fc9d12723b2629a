// Who may have an account, and what comes with it. The first of all may; then whoever is invited, unless the operator
// lets everybody in. The account, its way to sign in and its workspace are made together or not at all.

import { Failure } from '../../../lib/failure.ts'
import type { Plan } from '../../../lib/plan.ts'
import { isUniqueViolation } from '../../../storage/database/errors.ts'
import {
  type Connection,
  type Database,
  type OnCommit,
  toNestedDatabase,
} from '../../../storage/database/open-database.ts'
import { acceptInvitationIn } from '../workspaces/accept-invitation.ts'
import { getInvitation } from '../workspaces/invitations.ts'
import { createWorkspace } from '../workspaces/workspaces.ts'
import { DEMO_EMAIL } from './demo-email.ts'
import { hashUserPassword } from './password.ts'

export interface SignUpNeeds {
  db: Database
  now: () => number
  defaultPlan: Plan
  /** Everybody, or whoever is invited. */
  signup: 'open' | 'invite'
}

export interface NewPerson {
  name: string
  /** Lower case. */
  email: string
  /** Somebody else whom the operator trusts has seen that it is theirs. */
  emailVerified?: boolean
  /** The token in the link of an invitation. */
  invitation?: string
}

export interface SignUpResult {
  userId: number
  workspaceId: number
}

const NAME_MAX = 100

const signUpRefused = () => new Failure('forbidden', 'Sign-up is by invitation')

/** @throws Failure `forbidden`, `conflict`, `not_found` for an invitation that is none */
export async function signUp(
  needs: SignUpNeeds,
  person: NewPerson & { password: string },
): Promise<SignUpResult> {
  // Before the hash, which is dear: strangers are not let that far.
  await refuseStranger(needs, person)
  const password = await hashUserPassword(person.password)
  return needs.db.write(async (connection, onCommit) => {
    const made = await createPersonIn(connection, onCommit, needs, person)
    const at = needs.now()
    await connection
      .insertInto('identities')
      .values({ ...toCredentialColumns(made.userId), password, created_at: at, updated_at: at })
      .execute()
    return made
  })
}

/** A person without a way to sign in yet: whoever signs in elsewhere gets theirs in the same transaction. */
export const addPerson = (needs: SignUpNeeds, person: NewPerson): Promise<SignUpResult> =>
  needs.db.write((connection, onCommit) => createPersonIn(connection, onCommit, needs, person))

/** What a password belongs to, as Better Auth names it. */
export const toCredentialColumns = (userId: number) => ({
  user_id: userId,
  provider_id: 'credential',
  account_id: String(userId),
})

/** The account of the demonstration is nobody's. */
export async function isFirstSignUp(connection: Connection): Promise<boolean> {
  const users = connection.selectFrom('users').select('id').where('email', '!=', DEMO_EMAIL)
  return (await users.limit(1).executeTakeFirst()) === undefined
}

async function refuseStranger({ db, now, signup }: SignUpNeeds, { email, invitation }: NewPerson) {
  if (invitation !== undefined) await checkInvitation(db.read, invitation, email, now())
  else if (signup !== 'open' && !(await isFirstSignUp(db.read))) throw signUpRefused()
}

async function createPersonIn(
  connection: Connection,
  onCommit: OnCommit,
  needs: SignUpNeeds,
  person: NewPerson,
): Promise<SignUpResult> {
  const { email, invitation } = person
  const at = needs.now()
  const invited = invitation !== undefined && (await checkInvitation(connection, invitation, email, at))
  // Not by an invitation: whoever sent it has the same link, and could take the address of somebody else.
  const verified = person.emailVerified === true
  const founder = await addFounder(connection, { person, verified, at })
  const waiting = invited || !person.emailVerified ? [] : await listPendingInvitations(connection, email, at)
  if (founder === undefined && !invited && waiting.length === 0 && needs.signup !== 'open')
    throw signUpRefused()

  const userId = founder ?? (await addUser(connection, { person, verified, at, founder: null }))
  if (invitation !== undefined) {
    const { workspaceId } = await acceptInvitationIn(connection, {
      token: invitation,
      userId,
      email,
      now: at,
    })
    return { userId, workspaceId }
  }
  const [joined] = await acceptAll(connection, waiting, userId, at)
  return {
    userId,
    workspaceId: joined ?? (await createFirstWorkspace(connection, onCommit, needs, { userId, person })),
  }
}

/** @throws Failure `not_found`, `forbidden` */
async function checkInvitation(
  connection: Connection,
  token: string,
  email: string,
  at: number,
): Promise<true> {
  const invitation = await getInvitation(connection, token, at)
  if (invitation.email === email) return true
  throw new Failure('forbidden', 'This invitation is for another e-mail address')
}

interface Row {
  person: NewPerson
  verified: boolean
  at: number
}

/** The database decides who is first: of two at the same moment, the row of one is refused. */
async function addFounder(connection: Connection, row: Row): Promise<number | undefined> {
  return (await isFirstSignUp(connection)) ? addUser(connection, { ...row, founder: 1 }) : undefined
}

function addUser(connection: Connection, row: Row & { founder: 1 }): Promise<number | undefined>
function addUser(connection: Connection, row: Row & { founder: null }): Promise<number>
async function addUser(
  connection: Connection,
  { person, verified, at, founder }: Row & { founder: 1 | null },
) {
  try {
    const added = await connection
      .insertInto('users')
      .values({
        email: person.email,
        name: toName(person),
        email_verified: verified ? 1 : 0,
        image: null,
        founder,
        created_at: at,
        updated_at: at,
      })
      .onConflict((conflict) => conflict.column('founder').doNothing())
      .returning('id')
      .executeTakeFirst()
    return added?.id
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new Failure('conflict', 'This e-mail address has an account already: sign in', { cause: error })
  }
}

const toName = ({ name, email }: NewPerson) =>
  [...name.trim()].slice(0, NAME_MAX).join('') || email.slice(0, email.indexOf('@'))

function listPendingInvitations(connection: Connection, email: string, at: number) {
  return connection
    .selectFrom('invitations')
    .select(['id', 'workspace_id', 'role'])
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', at)
    .orderBy('id')
    .execute()
}

/** Their address is proven, which is all that the links in the mails would prove. */
async function acceptAll(
  connection: Connection,
  waiting: { id: number; workspace_id: number; role: string }[],
  userId: number,
  at: number,
): Promise<number[]> {
  for (const { id, workspace_id, role } of waiting) {
    await connection
      .updateTable('invitations')
      .set({ accepted_at: at })
      .where('workspace_id', '=', workspace_id)
      .where('id', '=', id)
      .execute()
    await connection
      .insertInto('members')
      .values({ workspace_id, user_id: userId, role, created_at: at })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  return waiting.map(({ workspace_id }) => workspace_id)
}

async function createFirstWorkspace(
  connection: Connection,
  onCommit: OnCommit,
  { db, now, defaultPlan }: SignUpNeeds,
  { userId, person }: { userId: number; person: NewPerson },
): Promise<number> {
  const own = `${[...toName(person)].slice(0, NAME_MAX - 12).join('')}’s workspace`
  const within = { db: toNestedDatabase(db, connection, onCommit), now }
  const { id } = await createWorkspace(within, { name: own, plan: defaultPlan })
  await connection
    .insertInto('members')
    .values({ workspace_id: id, user_id: userId, role: 'owner', created_at: now() })
    .execute()
  return id
}
