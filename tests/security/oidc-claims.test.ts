// A sign-in at the identity provider fails when the ID token was made for another client, is old, or names no real email
// address.

import { afterAll, describe, expect, test } from 'bun:test'
import { createClaimChecks } from '../../server/features/accounts/auth/oidc-claims.ts'
import { startIdentityProvider } from '../support/fake-servers/identity-provider.ts'
import { toCookieHeader } from '../support/users/sign-up.ts'
import { onSqlite, type TestServer } from '../support/world.ts'

const provider = startIdentityProvider()
afterAll(() => provider.close())

const ADA = { sub: 'ada', email: 'ada@works.example', email_verified: true, name: 'Ada' }

/** Follows the redirects to the provider and back as a browser does. @returns the error, or 'signed in' */
async function signIn(server: TestServer, claims: Record<string, unknown> = {}): Promise<string> {
  provider.identity = ADA
  provider.changeClaims = (honest) => ({ ...honest, ...claims })
  const body = { providerId: 'oidc' }
  const started = await server.call('/api/auth/sign-in/oauth2', { method: 'POST', body })
  const consented = await fetch(started.json.url, { redirect: 'manual' })
  const { pathname, search } = new URL(consented.headers.get('location') ?? '')
  const answer = await server.call(pathname + search, { headers: { Cookie: toCookieHeader(started) } })
  const error = new URL(answer.headers.get('location') ?? '').searchParams.get('error')
  const hasSession = toCookieHeader(answer).includes('towpath_session=')
  expect([answer.status, hasSession]).toEqual([302, error === null])
  return error ?? 'signed in'
}

/** Claims of a token, of which some name moments: `ago` seconds before now. */
type ToClaims = (ago: (seconds: number) => number) => Record<string, unknown>
const REFUSED = 'unable_to_get_user_info'

onSqlite(
  'a sign-in at the identity provider',
  (server) => {
    const ago = (seconds: number) => Math.floor(server().now() / 1000) - seconds

    test('works with an honest token', async () => {
      expect(await signIn(server())).toBe('signed in')
    })

    describe('fails', () => {
      test.each<[string, ToClaims]>([
        ['without azp for several clients', () => ({ aud: [provider.clientId, 'other'] })],
        ['with the azp of another client', () => ({ aud: [provider.clientId, 'other'], azp: 'other' })],
        ['with the azp of another client beside one audience', () => ({ azp: 'other' })],
        ['with azp that is no text', () => ({ azp: [provider.clientId] })],
        ['with a token of the future', (ago) => ({ iat: ago(-600), exp: ago(-900) })],
        ['with an old token that lives long', (ago) => ({ iat: ago(3600), exp: ago(-3600) })],
        ['with a time that is no number', () => ({ iat: 'now' })],
        ['without a time', () => ({ iat: undefined })],
        ['without a subject', () => ({ sub: undefined })],
      ])('%s', async (_, toClaims) => {
        expect(await signIn(server(), toClaims(ago))).toBe(REFUSED)
      })

      test.each([
        'ada',
        'ada@works',
        'ada@works.example\r\nBcc: all@works.example',
        'Ada <ada@works.example>',
        'ada@works.example, eve@evil.example',
        `${'a'.repeat(250)}@works.example`,
        ' ada@works.example',
        7,
        [['ada@works.example']],
      ])('with %p as email address', async (email) => {
        expect(await signIn(server(), { email })).toMatch(/email_not_found|unable_to_get_user_info/)
      })
    })

    test.each<[string, ToClaims]>([
      ['the azp of this client', () => ({ aud: [provider.clientId, 'other'], azp: provider.clientId })],
      ['a list with this client alone', () => ({ aud: [provider.clientId] })],
      ['a clock that is a little ahead', (ago) => ({ iat: ago(-30), exp: ago(-300) })],
      ['a token of five minutes ago', (ago) => ({ iat: ago(300), exp: ago(-300) })],
    ])('works with %s', async (_, toClaims) => {
      expect(await signIn(server(), toClaims(ago))).toBe('signed in')
    })
  },
  {
    environment: {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
    },
  },
)

onSqlite(
  'a provider whose document names another issuer than the operator',
  (server) => {
    test('signs nobody in', async () => {
      expect(await signIn(server())).toBe(REFUSED)
    })
  },
  {
    environment: {
      OIDC_ISSUER: provider.issuer.replace('127.0.0.1', 'localhost'),
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
    },
  },
)

test('an answer of the provider without an ID token, or with a broken one, names nobody', () => {
  const { accountSubject } = createClaimChecks(provider, () => Date.UTC(2026, 5, 11, 12))
  for (const idToken of [undefined, '', 'a.b.c', 'a.bnVsbA.c'])
    expect(() => accountSubject({ tokens: { idToken } })).toThrow()
})
