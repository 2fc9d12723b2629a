// Signs a person up. The first person must be the operator (first-account.ts); everybody after needs an invitation, or,
// where `SIGNUP` is `open`, a link that was mailed to their address. Account, password and workspace are created in one
// transaction.

import { Failure } from '../../../lib/failure.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Role } from '../../../lib/role.ts'
import { isUniqueViolation } from '../../../storage/database/errors.ts'
import type { Connection, Database, OnCommit } from '../../../storage/database/open-database.ts'
import { NAME_MAX } from '../schema.ts'
import { acceptInvitationIn, joinWorkspaceIn } from '../workspaces/accept-invitation.ts'
import { createWorkspaceWithOwnerIn } from '../workspaces/create-workspace.ts'
import { getInvitation } from '../workspaces/invitations.ts'
import {
  type FirstAccountState,
  operatorRequired,
  readFirstAccountState,
  setupRequired,
} from './first-account.ts'
import { hashUserPassword, requireGoodPassword } from './password.ts'
import { getSignUpEmail, useSignUpLinkIn } from './sign-up-link.ts'

export interface SignUpNeeds {
  db: Database
  now: () => number
  defaultPlan: Plan
  /** Who may sign up: everyone, or invited people only. */
  signup: 'open' | 'invite'
  origin: string
}

export interface NewPerson {
  name: string
  /** Lower case. */
  email: string
  /** The identity provider has verified that the address belongs to the person. */
  emailVerified?: boolean
  /** The token in the link of an invitation. */
  invitation?: string
  /** The token in the link that was mailed to the address (abuse/sign-up-link.ts). */
  confirmation?: string
  /** The request may make the first account (first-account.ts). */
  mayFound?: boolean
}

export interface NewPersonWithPassword extends NewPerson {
  password: string
}

export interface SignUpResult {
  userId: number
  workspaceId: number
}

const signUpRefused = () => new Failure('forbidden', 'Sign-up is by invitation')

/** @throws Failure `forbidden`, `conflict`, `invalid`; `not_found` for a link that does not work */
export async function signUp(needs: SignUpNeeds, person: NewPersonWithPassword): Promise<SignUpResult> {
  // Checked before the hash, because a hash takes much CPU time and strangers must not be able to cause it.
  await refuseStranger(needs, person)
  await requireGoodPassword(person.password, { ...person, origin: needs.origin })
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

/** @throws Failure `forbidden`, `not_found` */
async function refuseStranger(
  { db, now }: SignUpNeeds,
  { email, invitation, confirmation, mayFound }: NewPerson,
) {
  if (invitation !== undefined) return checkInvitation(db.read, invitation, email, now())
  if (confirmation !== undefined) {
    if ((await getSignUpEmail(db.read, confirmation, now())) !== email) throw otherAddress('link')
    return
  }
  const state = await readFirstAccountState(db.read)
  if (state !== 'empty' || !mayFound) throw toRefusal(state, mayFound)
}

function toRefusal(state: FirstAccountState, mayFound = false): Failure {
  if (state === 'empty' && !mayFound) return setupRequired()
  return state === 'operatorOnly' ? operatorRequired() : signUpRefused()
}

async function createPersonIn(
  connection: Connection,
  onCommit: OnCommit,
  needs: SignUpNeeds,
  person: NewPerson,
): Promise<SignUpResult> {
  const { email, invitation, confirmation } = person
  const at = needs.now()
  if (invitation !== undefined) return createInvitedIn(connection, person, invitation, at)
  if (confirmation !== undefined) await useSignUpLinkIn(connection, { token: confirmation, email, now: at })
  const verified = confirmation !== undefined || person.emailVerified === true
  const pending = verified ? await listPendingInvitations(connection, email, at) : []
  const state = await readFirstAccountState(connection)
  const founder =
    state === 'empty' && person.mayFound ? await addFounder(connection, { person, verified, at }) : undefined
  const mayJoin = confirmation !== undefined || (state === 'made' && needs.signup === 'open' && verified)
  if (founder === undefined && !mayJoin && pending.length === 0) throw toRefusal(state, person.mayFound)

  const userId = founder ?? (await addUser(connection, { person, verified, at, founder: null }))
  // The address is verified. The links in the invitation mails would prove no more.
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

/** An invitation does not verify the address: its sender has the link too, and could use another person's address. */
async function createInvitedIn(
  connection: Connection,
  person: NewPerson,
  token: string,
  at: number,
): Promise<SignUpResult> {
  const { email, emailVerified: verified = false } = person
  await checkInvitation(connection, token, email, at)
  const userId = await addUser(connection, { person, verified, at, founder: null })
  const { workspaceId } = await acceptInvitationIn(connection, { token, userId, email, now: at })
  return { userId, workspaceId }
}

/** @throws Failure `not_found`, `forbidden` */
async function checkInvitation(
  connection: Connection,
  token: string,
  email: string,
  at: number,
): Promise<void> {
  const invitation = await getInvitation(connection, token, at)
  if (invitation.email !== email) throw otherAddress('invitation')
}

const otherAddress = (what: string) => new Failure('forbidden', `This ${what} is for another email address`)

interface NewUser {
  person: NewPerson
  verified: boolean
  at: number
}

/**
 * The unique column `founder` decides who is first when two people sign up at the same moment. @returns undefined for
 * others
 */
const addFounder = (connection: Connection, row: NewUser): Promise<number | undefined> =>
  addUser(connection, { ...row, founder: 1 })

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
    throw new Failure('conflict', 'This email address has an account already: sign in', { cause: error })
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
