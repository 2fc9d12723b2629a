// Signs a person up. The first person may always sign up; everybody after needs an invitation, unless `SIGNUP` is
// `open`. Account, password and workspace are created in one transaction.

import { Failure } from '../../../lib/failure.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Role } from '../../../lib/role.ts'
import { isUniqueViolation } from '../../../storage/database/errors.ts'
import type { Connection, Database, OnCommit } from '../../../storage/database/open-database.ts'
import { NAME_MAX } from '../schema.ts'
import { acceptInvitationIn, joinWorkspaceIn } from '../workspaces/accept-invitation.ts'
import { createWorkspaceWithOwnerIn } from '../workspaces/create-workspace.ts'
import { getInvitation } from '../workspaces/invitations.ts'
import { DEMO_EMAIL } from './demo-email.ts'
import { hashUserPassword } from './password.ts'

export interface SignUpNeeds {
  db: Database
  now: () => number
  defaultPlan: Plan
  /** Who may sign up: everybody, or invited people only. */
  signup: 'open' | 'invite'
}

export interface NewPerson {
  name: string
  /** Lower case. */
  email: string
  /** The identity provider has verified that the address belongs to the person. */
  emailVerified?: boolean
  /** The token in the link of an invitation. */
  invitation?: string
}

export interface SignUpResult {
  userId: number
  workspaceId: number
}

const signUpRefused = () => new Failure('forbidden', 'Sign-up is by invitation')

/** @throws Failure `forbidden`, `conflict`; `not_found` for an invitation that does not exist */
export async function signUp(
  needs: SignUpNeeds,
  person: NewPerson & { password: string },
): Promise<SignUpResult> {
  // Check before the hash: a hash takes much CPU time, and strangers must not be able to cause it.
  await refuseStranger(needs, person)
  const password = await hashUserPassword(person.password)
  return needs.db.write(async (connection, onCommit) => {
    const result = await createPersonIn(connection, onCommit, needs, person)
    const at = needs.now()
    await connection
      .insertInto('identities')
      .values({ ...toCredentialColumns(result.userId), password, created_at: at, updated_at: at })
      .execute()
    return result
  })
}

/** Adds a person without a password. Better Auth adds the identity at the provider in the same transaction. */
export const addPerson = (needs: SignUpNeeds, person: NewPerson): Promise<SignUpResult> =>
  needs.db.write((connection, onCommit) => createPersonIn(connection, onCommit, needs, person))

/** The identity that has the password, in Better Auth's terms. */
export const toCredentialColumns = (userId: number) => ({
  user_id: userId,
  provider_id: 'credential',
  account_id: String(userId),
})

/** The demo account does not count. */
export async function isFirstSignUp(connection: Connection): Promise<boolean> {
  const users = connection.selectFrom('users').select('id').where('email', '!=', DEMO_EMAIL)
  return (await users.limit(1).executeTakeFirst()) === undefined
}

/** @throws Failure `forbidden`, `not_found` */
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
  // An invitation does not verify the address: its sender has the link too, and could use somebody else's address.
  const verified = person.emailVerified === true
  const founder = await addFounder(connection, { person, verified, at })
  const pending = invited || !verified ? [] : await listPendingInvitations(connection, email, at)
  if (founder === undefined && !invited && pending.length === 0 && needs.signup !== 'open')
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
  // The provider has verified the address. The links in the invitation mails would prove no more.
  for (const invitation of pending) await joinWorkspaceIn(connection, invitation, userId, at)
  const workspaceId =
    pending[0]?.workspaceId ??
    (await createWorkspaceWithOwnerIn(connection, onCommit, needs, {
      name: toWorkspaceName(person),
      plan: needs.defaultPlan,
      ownerId: userId,
    }))
  return { userId, workspaceId }
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

interface NewUser {
  person: NewPerson
  verified: boolean
  at: number
}

/**
 * The unique column `founder` decides who is first when two people sign up at the same moment. @returns undefined for
 * others
 */
async function addFounder(connection: Connection, row: NewUser): Promise<number | undefined> {
  return (await isFirstSignUp(connection)) ? addUser(connection, { ...row, founder: 1 }) : undefined
}

function addUser(connection: Connection, row: NewUser & { founder: 1 }): Promise<number | undefined>
function addUser(connection: Connection, row: NewUser & { founder: null }): Promise<number>
async function addUser(
  connection: Connection,
  { person, verified, at, founder }: NewUser & { founder: 1 | null },
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

const WORKSPACE_NAME_SUFFIX = '’s workspace'

const toWorkspaceName = (person: NewPerson) =>
  [...toName(person)].slice(0, NAME_MAX - WORKSPACE_NAME_SUFFIX.length).join('') + WORKSPACE_NAME_SUFFIX

async function listPendingInvitations(connection: Connection, email: string, at: number) {
  const rows = await connection
    .selectFrom('invitations')
    .select(['id', 'workspace_id', 'role'])
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', at)
    .orderBy('id')
    .execute()
  return rows.map(({ id, workspace_id, role }) => ({ id, workspaceId: workspace_id, role: role as Role }))
}
