// Who may have an account, and what comes with it. The first of all may; then whoever is invited, unless the operator
// lets everybody in. The account, its way to sign in and its workspace are made together or not at all.

import { Failure } from '../../lib/failure.ts'
import type { Plan } from '../../lib/plan.ts'
import { isUniqueViolation } from '../../storage/rows/errors.ts'
import { type Db, type OnCommit, type Rows, rowsWithin } from '../../storage/rows/open.ts'
import { DEMO_EMAIL } from './demo-email.ts'
import { findInvitation } from './invitations.ts'
import { acceptIn } from './join.ts'
import { hashOf } from './password.ts'
import { createWorkspace } from './workspaces.ts'

export interface SignUpNeeds {
  rows: Rows
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

export interface SignedUp {
  userId: number
  workspaceId: number
}

const NAME_MAX = 100

const refused = () => new Failure('forbidden', 'Sign-up is by invitation')

/** @throws Failure `forbidden`, `conflict`, `not_found` for an invitation that is none */
export async function signUp(
  needs: SignUpNeeds,
  person: NewPerson & { password: string },
): Promise<SignedUp> {
  // Before the hash, which is dear: strangers are not let that far.
  await refuseStranger(needs, person)
  const password = await hashOf(person.password)
  return needs.rows.write(async (db, onCommit) => {
    const made = await addPersonIn(db, onCommit, needs, person)
    const at = needs.now()
    await db
      .insertInto('identities')
      .values({ ...credential(made.userId), password, created_at: at, updated_at: at })
      .execute()
    return made
  })
}

/** A person without a way to sign in yet: whoever signs in elsewhere gets theirs in the same transaction. */
export const addPerson = (needs: SignUpNeeds, person: NewPerson): Promise<SignedUp> =>
  needs.rows.write((db, onCommit) => addPersonIn(db, onCommit, needs, person))

/** What a password belongs to, as Better Auth names it. */
export const credential = (userId: number) => ({
  user_id: userId,
  provider_id: 'credential',
  account_id: String(userId),
})

/** The account of the demonstration is nobody's. */
export async function isFirst(db: Db): Promise<boolean> {
  const users = db.selectFrom('users').select('id').where('email', '!=', DEMO_EMAIL)
  return (await users.limit(1).executeTakeFirst()) === undefined
}

async function refuseStranger({ rows, now, signup }: SignUpNeeds, { email, invitation }: NewPerson) {
  if (invitation !== undefined) await invitedAs(rows.read, invitation, email, now())
  else if (signup !== 'open' && !(await isFirst(rows.read))) throw refused()
}

async function addPersonIn(
  db: Db,
  onCommit: OnCommit,
  needs: SignUpNeeds,
  person: NewPerson,
): Promise<SignedUp> {
  const { email, invitation } = person
  const at = needs.now()
  const invited = invitation !== undefined && (await invitedAs(db, invitation, email, at))
  // Not by an invitation: whoever sent it has the same link, and could take the address of somebody else.
  const verified = person.emailVerified === true
  const founder = await addFounder(db, { person, verified, at })
  const waiting = invited || !person.emailVerified ? [] : await openInvitations(db, email, at)
  if (founder === undefined && !invited && waiting.length === 0 && needs.signup !== 'open') throw refused()

  const userId = founder ?? (await addUser(db, { person, verified, at, founder: null }))
  if (invitation !== undefined) {
    const { workspaceId } = await acceptIn(db, { token: invitation, userId, email, now: at })
    return { userId, workspaceId }
  }
  const [joined] = await joinAll(db, waiting, userId, at)
  return { userId, workspaceId: joined ?? (await foundOwn(db, onCommit, needs, { userId, person })) }
}

/** @throws Failure `not_found`, `forbidden` */
async function invitedAs(db: Db, token: string, email: string, at: number): Promise<true> {
  const invitation = await findInvitation(db, token, at)
  if (invitation.email === email) return true
  throw new Failure('forbidden', 'This invitation is for another e-mail address')
}

interface Row {
  person: NewPerson
  verified: boolean
  at: number
}

/** The database decides who is first: of two at the same moment, the row of one is refused. */
async function addFounder(db: Db, row: Row): Promise<number | undefined> {
  return (await isFirst(db)) ? addUser(db, { ...row, founder: 1 }) : undefined
}

function addUser(db: Db, row: Row & { founder: 1 }): Promise<number | undefined>
function addUser(db: Db, row: Row & { founder: null }): Promise<number>
async function addUser(db: Db, { person, verified, at, founder }: Row & { founder: 1 | null }) {
  try {
    const added = await db
      .insertInto('users')
      .values({
        email: person.email,
        name: nameOf(person),
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

const nameOf = ({ name, email }: NewPerson) =>
  [...name.trim()].slice(0, NAME_MAX).join('') || email.slice(0, email.indexOf('@'))

function openInvitations(db: Db, email: string, at: number) {
  return db
    .selectFrom('invitations')
    .select(['id', 'workspace_id', 'role'])
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', at)
    .orderBy('id')
    .execute()
}

/** Their address is proven, which is all that the links in the mails would prove. */
async function joinAll(
  db: Db,
  waiting: { id: number; workspace_id: number; role: string }[],
  userId: number,
  at: number,
): Promise<number[]> {
  for (const { id, workspace_id, role } of waiting) {
    await db
      .updateTable('invitations')
      .set({ accepted_at: at })
      .where('workspace_id', '=', workspace_id)
      .where('id', '=', id)
      .execute()
    await db
      .insertInto('members')
      .values({ workspace_id, user_id: userId, role, created_at: at })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  return waiting.map(({ workspace_id }) => workspace_id)
}

async function foundOwn(
  db: Db,
  onCommit: OnCommit,
  { rows, now, defaultPlan }: SignUpNeeds,
  { userId, person }: { userId: number; person: NewPerson },
): Promise<number> {
  const own = `${[...nameOf(person)].slice(0, NAME_MAX - 12).join('')}’s workspace`
  const within = { rows: rowsWithin(rows, db, onCommit), now }
  const { id } = await createWorkspace(within, { name: own, plan: defaultPlan })
  await db
    .insertInto('members')
    .values({ workspace_id: id, user_id: userId, role: 'owner', created_at: now() })
    .execute()
  return id
}
