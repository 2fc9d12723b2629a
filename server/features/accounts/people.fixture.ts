// People for tests that are not about signing up: rows, and a hash of the password that is cheap to check.

import { type SignedUpUser, toSignedUpUser } from '../../../tests/support/users/sign-up.ts'
import { addToWorkspace, createSignedInUser } from '../../../tests/support/users/signed-in-user.ts'
import type { TestServer } from '../../../tests/support/world.ts'
import { toCredentialColumns } from './auth/sign-up.ts'

export interface Person extends SignedUpUser {
  id: number
}

const PASSWORD = 'the password of a row'
/** A hash names its own cost, so signing in works as with every other one. */
const CHEAP_HASH = Bun.password.hashSync(PASSWORD, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })

/** @returns a person who is signed in and owns a workspace */
export async function createPerson(server: TestServer, name = 'Person'): Promise<Person> {
  const at = server.now()
  const user = await createSignedInUser(server, name, at)
  await server.insert('identities', {
    ...toCredentialColumns(user.id),
    password: CHEAP_HASH,
    created_at: at,
    updated_at: at,
  })
  const workspace = await server.createWorkspace()
  await addToWorkspace(server, workspace.id, user, 'owner')
  const details = { email: user.email, password: PASSWORD, workspaceId: workspace.id }
  return { ...toSignedUpUser(server, user.cookie, details), id: user.id }
}
