// People who have signed in already, made as rows: what signing in takes is no part of most tests.

import { SESSION_IDLE_MS } from '../../../server/features/accounts/access/session.ts'
import { addMember } from '../../../server/features/accounts/workspaces/add-member.ts'
import { randomBase62 } from '../../../server/lib/random.ts'
import type { Role } from '../../../server/lib/role.ts'
import { sha256Hex } from '../../../server/lib/sha256.ts'
import type { HttpAnswer, HttpCall, TestServer, TestWorkspace } from '../server/test-server.ts'

export interface SignedInUser {
  id: number
  name: string
  email: string
  /** The Cookie header of their browser. */
  cookie: string
  /** Calls `/v1` + path as them, in no workspace. */
  api(path: string, call?: HttpCall): Promise<HttpAnswer>
  /** The same in a workspace. */
  apiIn(workspaceId: number, path: string, call?: HttpCall): Promise<HttpAnswer>
}

let people = 0

/** Somebody who is in no workspace. @param now the server's, where its clock is shifted */
export async function createSignedInUser(
  server: TestServer,
  named: string,
  now = Date.now(),
): Promise<SignedInUser> {
  people += 1
  const email = `${named.toLowerCase()}-${people}@people.example`
  const token = randomBase62(32)
  const id = await server.app.db.write(async (connection) => {
    const user = await connection
      .insertInto('users')
      .values({ email, name: named, image: null, founder: null, created_at: now, updated_at: now })
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
  const ask: SignedInUser['api'] = (path, { headers, ...call } = {}) =>
    server.call(`/v1${path}`, { ...call, headers: { Cookie: cookie, ...headers } })
  return {
    id,
    name: named,
    email,
    cookie,
    api: ask,
    apiIn: (workspaceId, path, { headers, ...call } = {}) =>
      ask(path, { ...call, headers: { 'X-Workspace': String(workspaceId), ...headers } }),
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

/** A workspace with a key, an owner and a member. */
export async function createTeam(server: TestServer, now = Date.now()): Promise<Team> {
  const workspace = await server.createWorkspace()
  const owner = await createSignedInUser(server, 'Olga', now)
  const member = await createSignedInUser(server, 'Max', now)
  await addToWorkspace(server, workspace.id, owner, 'owner')
  await addToWorkspace(server, workspace.id, member, 'member')
  return { ...workspace, owner, member }
}
