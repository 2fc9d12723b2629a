// People for tests: signed up over HTTP as a browser does it, with the cookie it would keep.

import type { HttpAnswer, HttpCall } from '../server/http-call.ts'
import type { TestServer } from '../server/test-server.ts'

export interface SignedUpUser {
  /** What the browser sends: `name=value`. */
  cookie: string
  email: string
  password: string
  workspaceId: number
  /** Calls `/v1` + path with the cookie, in their own workspace or another one. */
  api(path: string, call?: HttpCall, workspaceId?: number): Promise<HttpAnswer>
  /** Calls `/api/auth` + path with the cookie. */
  auth(path: string, call?: HttpCall): Promise<HttpAnswer>
}

export interface SignUpDetails {
  name?: string
  email?: string
  password?: string
  /** The token in the link of an invitation. */
  invitation?: string
}

let people = 0

/** @throws when the sign-up is refused */
export async function signUpOverHttp(server: TestServer, given: SignUpDetails = {}): Promise<SignedUpUser> {
  const number = ++people
  const {
    name = `Person ${number}`,
    email = `person-${number}@example.com`,
    password = `a long password ${number}`,
    invitation,
  } = given
  const body = { name, email, password, ...(invitation !== undefined && { invitation }) }
  const answer = await server.call('/api/auth/sign-up/email', { method: 'POST', body })
  if (answer.status !== 200) throw new Error(`the sign-up was refused: ${answer.status} ${answer.text}`)
  return toSignedUpUser(server, toCookieHeader(answer), {
    email,
    password,
    workspaceId: answer.json.workspaceId,
  })
}

/** The cookies that an answer sets, as a browser sends them back; those that it takes away are left out. */
export const toCookieHeader = ({ headers }: HttpAnswer): string =>
  headers
    .getSetCookie()
    .filter((cookie) => !/max-age=0/i.test(cookie))
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')

export function toSignedUpUser(
  server: TestServer,
  cookie: string,
  known: Pick<SignedUpUser, 'email' | 'password' | 'workspaceId'>,
): SignedUpUser {
  return {
    ...known,
    cookie,
    api: (path, { headers, ...call } = {}, workspaceId = known.workspaceId) =>
      server.call(`/v1${path}`, {
        ...call,
        headers: { Cookie: cookie, 'X-Workspace': String(workspaceId), ...headers },
      }),
    auth: (path, { headers, ...call } = {}) =>
      server.call(`/api/auth${path}`, { ...call, headers: { Cookie: cookie, ...headers } }),
  }
}
