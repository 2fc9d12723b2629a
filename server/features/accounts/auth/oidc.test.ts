// Sign-in at an identity provider, which runs on this machine.

import { afterAll, expect, test } from 'bun:test'
import {
  type OidcIdentity,
  startIdentityProvider,
} from '../../../../tests/support/fake-servers/identity-provider.ts'
import type { HttpAnswer } from '../../../../tests/support/server/http-call.ts'
import { signUpOverHttp, toCookieHeader, toSignedUpUser } from '../../../../tests/support/users/sign-up.ts'
import { onBothEngines, type TestServer } from '../../../../tests/support/world.ts'
import { setUpApp } from '../second-factor/second-factor.fixture.ts'
import { createResetLink } from './reset-password.ts'

const provider = startIdentityProvider()
afterAll(() => provider.close())

const environment = {
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: provider.clientId,
  OIDC_CLIENT_SECRET: provider.clientSecret,
  OIDC_NAME: 'Works',
}

/** Follows the redirects to the provider and back as a browser does, with cookies. */
async function signInElsewhere(
  server: TestServer,
  who: OidcIdentity,
  callbackURL?: string,
): Promise<HttpAnswer> {
  provider.identity = who
  const body = { providerId: 'oidc', ...(callbackURL !== undefined && { callbackURL }) }
  const started = await server.post('/api/auth/sign-in/oauth2', body)
  expect([started.status, Object.keys(started.json)]).toEqual([200, ['url']])
  const consented = await fetch(started.json.url, { redirect: 'manual' })
  const { pathname, search } = new URL(consented.headers.get('location') as string)
  expect(pathname).toBe('/api/auth/callback/oidc')
  return server.call(pathname + search, { headers: { Cookie: toCookieHeader(started) } })
}

const placeOf = ({ headers }: HttpAnswer) => headers.get('location')
const errorOf = (answer: HttpAnswer) => new URL(placeOf(answer) as string).searchParams.get('error')

onBothEngines(
  'signing in elsewhere',
  (server) => {
    const me = async (answer: HttpAnswer) => {
      const headers = { Cookie: toCookieHeader(answer) }
      return (await server().call('/api/auth/get-session', { headers })).json
    }

    test('creates the first account with a workspace, and returns to the page before sign-in', async () => {
      expect((await server().call('/api/auth/options')).json).toEqual({
        signup: 'first',
        oidc: { name: 'Works' },
        mail: false,
        password: { min: 12, minWithSecondFactor: 8, max: 128 },
      })
      const ada = { sub: 'ada', email: 'Ada@Works.example', email_verified: true, name: 'Ada' }
      const answer = await signInElsewhere(server(), ada, '/app/links?tag=1')
      expect([answer.status, placeOf(answer)]).toEqual([302, `${server().origin}/app/links?tag=1`])
      expect((await me(answer)).user).toMatchObject({
        name: 'Ada',
        email: 'ada@works.example',
        emailVerified: true,
      })
      const cookie = toCookieHeader(answer)
      const { json } = await server().call('/v1/workspaces', { headers: { Cookie: cookie } })
      expect(json.data).toMatchObject([{ name: 'Ada’s workspace', role: 'owner' }])
      // A second sign-in finds the same person.
      const again = await signInElsewhere(server(), ada)
      expect((await me(again)).user.id).toBe((await me(answer)).user.id)
    })

    test('lets no suspended person in, and says why', async () => {
      const ada = { sub: 'ada', email: 'Ada@Works.example', email_verified: true, name: 'Ada' }
      const setSuspended = (suspended_at: number | null) =>
        server().update('users', { email: 'ada@works.example' }, { suspended_at })
      await setSuspended(1)
      const refused = await signInElsewhere(server(), ada)
      expect([errorOf(refused), await me(refused)]).toEqual(['account_suspended', null])
      await setSuspended(null)
      expect((await me(await signInElsewhere(server(), ada))).user.email).toBe('ada@works.example')
    })

    test('stores no tokens of the provider', async () => {
      const kept = await server().rows('identities')
      expect(kept.map(({ provider_id, account_id }) => [provider_id, account_id])).toEqual([['oidc', 'ada']])
      expect(JSON.stringify(kept)).not.toContain('cAnArY')
      expect(kept.map((row) => [row.access_token, row.refresh_token, row.id_token])).toEqual([
        [null, null, null],
      ])
    })

    test('requires an invitation for later people, and finds it by their verified address', async () => {
      const bob = { sub: 'bob', email: 'bob@works.example', email_verified: true, name: 'Bob' }
      const refused = await signInElsewhere(server(), bob)
      expect([refused.status, errorOf(refused), toCookieHeader(refused)]).toEqual([
        302,
        'sign_up_forbidden',
        '',
      ])
      const users = () => server().rows('users')
      expect(await users()).toHaveLength(1)

      const ada = await signInElsewhere(server(), {
        sub: 'ada',
        email: 'ada@works.example',
        email_verified: true,
      })
      const headers = { Cookie: toCookieHeader(ada), 'X-Workspace': '1' }
      const body = { email: bob.email, role: 'member' }
      expect((await server().post('/v1/invitations', body, headers)).status).toBe(201)
      // An unverified address joins no workspace.
      const claimed = await signInElsewhere(server(), { ...bob, sub: 'mallory', email_verified: false })
      expect(errorOf(claimed)).toBe('sign_up_forbidden')
      const joined = await signInElsewhere(server(), bob)
      expect(placeOf(joined)).toBe(`${server().origin}/app`)
      const { json } = await server().call('/v1/workspaces', { headers: { Cookie: toCookieHeader(joined) } })
      expect(json.data).toMatchObject([{ id: 1, role: 'member' }])
    })

    test('links to an account with a password when both have verified the address', async () => {
      const boss = await signInElsewhere(server(), {
        sub: 'ada',
        email: 'ada@works.example',
        email_verified: true,
      })
      const headers = { Cookie: toCookieHeader(boss), 'X-Workspace': '1' }
      const body = { email: 'cyd@works.example', role: 'member' }
      const { json } = await server().post('/v1/invitations', body, headers)
      const invitation = new URL(json.data.url).searchParams.get('token') as string
      const cyd = await signUpOverHttp(server(), { email: body.email, invitation })
      const { user } = (await cyd.auth('/get-session')).json
      const goThere = (proven: boolean) =>
        signInElsewhere(server(), { sub: 'c', email: body.email, email_verified: proven })
      // The inviter could have made the account: an invitation does not verify an address.
      expect(errorOf(await goThere(true))).toBe('account_not_linked')

      // A link in a mail verifies the address.
      const { db } = server().app
      const reset = new URL(
        await createResetLink({ db, now: server().now, origin: server().origin }, user.id),
      )
      const token = reset.searchParams.get('token')
      const set = { token, newPassword: 'another long password' }
      expect((await server().post('/api/auth/reset-password', set)).status).toBe(200)
      expect(errorOf(await goThere(false))).toBe('account_not_linked')
      expect((await me(await goThere(true))).user.id).toBe(user.id)
    })

    test('refuses tokens of another issuer, client or sign-in, and expired tokens', async () => {
      const ada = { sub: 'ada', email: 'ada@works.example', email_verified: true }
      for (const forged of [
        { iss: 'https://elsewhere.example' },
        { aud: 'another client' },
        { nonce: 'of another sign-in' },
        { exp: 1 },
      ]) {
        provider.changeClaims = (claims) => ({ ...claims, ...forged })
        const answer = await signInElsewhere(server(), ada)
        expect([answer.status, toCookieHeader(answer), typeof errorOf(answer)]).toEqual([302, '', 'string'])
      }
      provider.changeClaims = (claims) => claims
      expect(toCookieHeader(await signInElsewhere(server(), ada))).toContain('towpath_session=')
    })

    test('asks for the second factor after the provider, too', async () => {
      const dee = { sub: 'ada', email: 'ada@works.example', email_verified: true }
      const cookie = toCookieHeader(await signInElsewhere(server(), dee))
      const { email } = (await server().call('/api/auth/get-session', { headers: { Cookie: cookie } })).json
        .user
      const person = toSignedUpUser(server(), cookie, { email, password: '', workspaceId: 1 })
      const app = await setUpApp(person, server().now)
      const answer = await signInElsewhere(server(), dee, '/app/1/links?tag=1')
      expect(placeOf(answer)).toBe(
        `${server().origin}/app/sign-in?step=second-factor&next=%2Fapp%2F1%2Flinks%3Ftag%3D1`,
      )
      expect(await me(answer)).toBeNull()
      const [recoveryCode] = app.recoveryCodes
      const verified = await server().post(
        '/api/auth/second-factor/verify',
        { recoveryCode },
        { Cookie: toCookieHeader(answer) },
      )
      expect((await me(verified)).user.email).toBe(email)
      await person.postAuth('/second-factor/app/remove')
    })

    test('makes the provider ask again when a person confirms that it is them', async () => {
      const body = { providerId: 'oidc', confirm: true }
      const { json } = await server().post('/api/auth/sign-in/oauth2', body)
      const { searchParams } = new URL(json.url)
      expect([searchParams.get('prompt'), searchParams.get('max_age')]).toEqual(['login', '0'])
    })

    test('ends the session that the browser had before', async () => {
      const ada = { sub: 'ada', email: 'ada@works.example', email_verified: true }
      const first = await signInElsewhere(server(), ada)
      provider.identity = ada
      const started = await server().post('/api/auth/sign-in/oauth2', { providerId: 'oidc', confirm: true })
      const consented = await fetch(started.json.url, { redirect: 'manual' })
      const { pathname, search } = new URL(consented.headers.get('location') as string)
      const second = await server().call(pathname + search, {
        headers: { Cookie: `${toCookieHeader(first)}; ${toCookieHeader(started)}` },
      })
      expect((await me(second)).user.email).toBe('ada@works.example')
      expect(await me(first)).toBeNull()
    })

    test('accepts a callback once, and only in the browser that started the sign-in', async () => {
      provider.identity = { sub: 'ada', email: 'ada@works.example', email_verified: true }
      const body = { providerId: 'oidc' }
      const started = await server().post('/api/auth/sign-in/oauth2', body)
      const consented = await fetch(started.json.url, { redirect: 'manual' })
      const { pathname, search } = new URL(consented.headers.get('location') as string)
      const other = await server().call(pathname + search)
      expect([other.status, errorOf(other), toCookieHeader(other)]).toEqual([302, 'state_mismatch', ''])
      const headers = { Cookie: toCookieHeader(started) }
      expect(toCookieHeader(await server().call(pathname + search, { headers }))).toContain(
        'towpath_session=',
      )
      const twice = await server().call(pathname + search, { headers })
      expect([errorOf(twice), toCookieHeader(twice)]).toEqual(['state_mismatch', ''])
    })

    test('redirects only to pages of the dashboard', async () => {
      for (const callbackURL of [
        'https://evil.example/app',
        '//evil.example',
        '/',
        '/apparently',
        '/app\\..\\x\0',
        7,
      ]) {
        const body = { providerId: 'oidc', callbackURL }
        const answer = await server().post('/api/auth/sign-in/oauth2', body)
        expect([callbackURL, answer.status, Object.keys(answer.json.errors)]).toEqual([
          callbackURL,
          422,
          ['callbackURL'],
        ])
      }
      for (const body of [{ providerId: 'google' }, { providerId: 'oidc', idToken: {} }, {}]) {
        expect((await server().post('/api/auth/sign-in/oauth2', body)).status).toBe(422)
      }
    })
  },
  { environment },
)
