// Users for tests who are signed in already. They are inserted as rows, because most tests are not about signing in.

import { SESSION_IDLE_MS } from '../../../server/features/accounts/access/session.ts'
import { addMember } from '../../../server/features/accounts/workspaces/add-member.ts'
import { randomBase62 } from '../../../server/lib/crypto/random.ts'
import { sha256Hex } from '../../../server/lib/crypto/sha256.ts'
import type { Role } from '../../../server/lib/role.ts'
import { type HttpAnswer, type HttpCall, toVerbs, type Verbs } from '../server/http-call.ts'
import type { TestServer, TestWorkspace } from '../world.ts'
import { DASHBOARD } from './sign-up.ts'

export interface SignedInUser extends Verbs {
  id: number
  name: string
  email: string
  /** The Cookie header of the user's browser. */
  cookie: string
  /** Calls `/v1` + path as a page of the dashboard does, without naming a workspace. */
  api(path: string, call?: HttpCall): Promise<HttpAnswer>
  /** The user in a workspace. */
  in(workspaceId: number): Verbs
  /** Calls `/v1` + path as the user, in a workspace. */
  apiIn(workspaceId: number, path: string, call?: HttpCall): Promise<HttpAnswer>
}

let users = 0

/** Creates a user who is in no workspace. @param now the time of the server, when a test shifts its clock */
export async function createSignedInUser(
  server: TestServer,
  name: string,
  now = Date.now(),
): Promise<SignedInUser> {
  users += 1
  const email = `${name.toLowerCase()}-${users}@people.example`
  const token = randomBase62(32)
  const id = await server.app.db.write(async (connection) => {
    const user = await connection
      .insertInto('users')
      .values({ email, name, image: null, founder: null, created_at: now, updated_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    await connection
      .insertInto('sessions')
      .values({
        user_id: user.id,
        token: sha256Hex(token),
        expires_at: now + SESSION_IDLE_MS,
        ip_address: null,
        user_agent: null,
        created_at: now,
        updated_at: now,
      })
      .execute()
    return user.id
  })
  const cookie = `towpath_session=${token}.signature`
  const api: SignedInUser['api'] = (path, { headers, ...call } = {}) =>
    server.call(`/v1${path}`, { ...call, headers: { ...DASHBOARD, Cookie: cookie, ...headers } })
  const apiIn: SignedInUser['apiIn'] = (workspaceId, path, { headers, ...call } = {}) =>
    api(path, { ...call, headers: { 'X-Workspace': String(workspaceId), ...headers } })
  return {
    id,
    name,
    email,
    cookie,
    api,
    ...toVerbs(api),
    apiIn,
    in: (workspaceId) => toVerbs((path, call) => apiIn(workspaceId, path, call)),
  }
}

export const addToWorkspace = (
  server: TestServer,
  workspaceId: number,
  { email }: SignedInUser,
  role: Role,
) => addMember({ db: server.app.db, now: Date.now }, { workspaceId, email, role })

export interface Team extends TestWorkspace {
  owner: SignedInUser
  member: SignedInUser
}

/** Creates a workspace with an API key, an owner and a member. */
export async function createTeam(server: TestServer, now = Date.now()): Promise<Team> {
  const workspace = await server.createWorkspace()
  const owner = await createSignedInUser(server, 'Olga', now)
  const member = await createSignedInUser(server, 'Max', now)
  await addToWorkspace(server, workspace.id, owner, 'owner')
  await addToWorkspace(server, workspace.id, member, 'member')
  return { ...workspace, owner, member }
}
