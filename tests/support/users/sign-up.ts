// Users for tests who sign up over HTTP, with the cookie that a browser would keep.

import { readFirstAccountState } from '../../../server/features/accounts/auth/first-account.ts'
import { createSignUpLink } from '../../../server/features/accounts/auth/sign-up-link.ts'
import { type HttpAnswer, type HttpCall, toVerbs, type Verbs } from '../server/http-call.ts'
import type { TestServer } from '../world.ts'

export interface SignedUpUser extends Verbs {
  /** The Cookie header: `name=value`. */
  cookie: string
  email: string
  password: string
  workspaceId: number
  /** Calls `/v1` + path with the cookie, as a page of the dashboard does, in the user's own workspace unless `workspaceId` names another one. */
  api(path: string, call?: HttpCall, workspaceId?: number): Promise<HttpAnswer>
  /** Calls `/api/auth` + path with the cookie. */
  auth(path: string, call?: HttpCall): Promise<HttpAnswer>
  postAuth: Verbs['post']
}

export interface SignUpDetails {
  name?: string
  email?: string
  password?: string
  /** The token from the link of an invitation. */
  invitation?: string
}

/** The headers that a browser adds to each request of the dashboard. */
export const DASHBOARD = { 'Sec-Fetch-Site': 'same-origin' }

let users = 0

/** @throws when the sign-up is refused */
export async function signUpOverHttp(server: TestServer, details: SignUpDetails = {}): Promise<SignedUpUser> {
  const number = ++users
  const {
    name = `Person ${number}`,
    email = `person-${number}@example.com`,
    password = `a long password ${number}`,
    invitation,
  } = details
  const link = invitation === undefined ? await createLinkWhereOpen(server, email) : { invitation }
  const body = { name, email, password, ...link }
  const answer = await server.call('/api/auth/sign-up/email', { method: 'POST', body })
  if (answer.status !== 200) throw new Error(`the sign-up was refused: ${answer.status} ${answer.text}`)
  return toSignedUpUser(server, toCookieHeader(answer), {
    email,
    password,
    workspaceId: answer.json.workspaceId,
  })
}

/** Under `SIGNUP=open` a person follows a link in a mail. Most tests are not about that mail. */
async function createLinkWhereOpen(server: TestServer, email: string) {
  const { db, signup } = server.app.signIn
  if (signup !== 'open' || (await readFirstAccountState(db.read)) !== 'made') return {}
  const link = await createSignUpLink({ ...server.app.signIn, origin: server.origin }, email)
  return { confirmation: new URL(link).searchParams.get('token') }
}

/** The cookies that an answer sets, as a browser sends them back. Cookies that the answer deletes are left out. */
export const toCookieHeader = ({ headers }: HttpAnswer): string =>
  headers
    .getSetCookie()
    .filter((cookie) => !/max-age=0/i.test(cookie))
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')

export function toSignedUpUser(
  server: TestServer,
  cookie: string,
  details: Pick<SignedUpUser, 'email' | 'password' | 'workspaceId'>,
): SignedUpUser {
  const api: SignedUpUser['api'] = (path, { headers, ...call } = {}, workspaceId = details.workspaceId) =>
    server.call(`/v1${path}`, {
      ...call,
      headers: { ...DASHBOARD, Cookie: cookie, 'X-Workspace': String(workspaceId), ...headers },
    })
  const auth: SignedUpUser['auth'] = (path, { headers, ...call } = {}) =>
    server.call(`/api/auth${path}`, { ...call, headers: { Cookie: cookie, ...headers } })
  return {
    ...details,
    cookie,
    api,
    ...toVerbs(api),
    auth,
    postAuth: toVerbs(auth).post,
  }
}
