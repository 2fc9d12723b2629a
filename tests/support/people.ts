// People who have signed in already, made as rows: what signing in takes is no part of most tests.

import type { Role } from '../../server/features/accounts/actor.ts'
import { addMember } from '../../server/features/accounts/add-member.ts'
import { hashSessionToken, IDLE_MS } from '../../server/features/accounts/session.ts'
import { randomBase62 } from '../../server/lib/random.ts'
import type { Answer, Call, TestServer, TestWorkspace } from './server.ts'

export interface TestPerson {
  id: number
  name: string
  email: string
  /** The Cookie header of their browser. */
  cookie: string
  /** Calls `/v1` + path as them, in no workspace. */
  ask(path: string, call?: Call): Promise<Answer>
  /** The same in a workspace. */
  askIn(workspaceId: number, path: string, call?: Call): Promise<Answer>
}

let people = 0

/** Somebody who is in no workspace. @param now the server's, where its clock is shifted */
export async function person(server: TestServer, named: string, now = Date.now()): Promise<TestPerson> {
  people += 1
  const email = `${named.toLowerCase()}-${people}@people.example`
  const token = randomBase62(32)
  const id = await server.app.rows.write(async (db) => {
    const user = await db
      .insertInto('users')
      .values({ email, name: named, image: null, founder: null, created_at: now, updated_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    await db
      .insertInto('sessions')
      .values({
        user_id: user.id,
        token: hashSessionToken(token),
        expires_at: now + IDLE_MS,
        ip_address: null,
        user_agent: null,
        created_at: now,
        updated_at: now,
      })
      .execute()
    return user.id
  })
  const cookie = `towpath_session=${token}.signature`
  const ask: TestPerson['ask'] = (path, { headers, ...call } = {}) =>
    server.call(`/v1${path}`, { ...call, headers: { Cookie: cookie, ...headers } })
  return {
    id,
    name: named,
    email,
    cookie,
    ask,
    askIn: (workspaceId, path, { headers, ...call } = {}) =>
      ask(path, { ...call, headers: { 'X-Workspace': String(workspaceId), ...headers } }),
  }
}

export const letIn = (server: TestServer, workspaceId: number, { email }: TestPerson, role: Role) =>
  addMember({ rows: server.app.rows, now: Date.now }, { workspaceId, email, role })

export interface Team extends TestWorkspace {
  owner: TestPerson
  member: TestPerson
}

/** A workspace with a key, an owner and a member. */
export async function team(server: TestServer, now = Date.now()): Promise<Team> {
  const workspace = await server.workspace()
  const owner = await person(server, 'Olga', now)
  const member = await person(server, 'Max', now)
  await letIn(server, workspace.id, owner, 'owner')
  await letIn(server, workspace.id, member, 'member')
  return { ...workspace, owner, member }
}
