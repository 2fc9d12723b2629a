import { beforeAll, expect, test } from 'bun:test'
import type { HttpAnswer } from '../../../../tests/support/server/http-call.ts'
import { type SignedUpUser, signUpOverHttp, toCookieHeader } from '../../../../tests/support/users/sign-up.ts'
import { onBothEngines, type TestServer } from '../../../../tests/support/world.ts'
import { useCheapHashes } from '../../../lib/crypto/cheap-hashes.fixture.ts'

useCheapHashes()

const PASSWORD = 'correct staple horse'

const PERSONAL =
  'This password is too close to your name, your address or the name of this site. Choose another one.'

const ask = (server: TestServer, body: object): Promise<HttpAnswer> =>
  server.post('/api/auth/sign-up/email', body)
const askAs = (server: TestServer, email: string, more: object = {}) =>
  ask(server, { name: 'Some Body', email, password: PASSWORD, ...more })

async function counts({ app }: TestServer) {
  const count = async (table: 'users' | 'workspaces' | 'members' | 'identities' | 'sessions') => {
    const rows = await app.db.read.selectFrom(table).selectAll().execute()
    return rows.length
  }
  return {
    users: await count('users'),
    workspaces: await count('workspaces'),
    members: await count('members'),
    identities: await count('identities'),
    sessions: await count('sessions'),
  }
}

const options = async (server: TestServer) => (await server.call('/api/auth/options')).json

onBothEngines.quick(
  'the first sign-up',
  (server) => {
    test('lets one of many parallel first sign-ups win, and stores nothing of the others', async () => {
      expect(await options(server())).toEqual({
        signup: 'first',
        oidc: null,
        mail: false,
        password: { min: 12, minWithSecondFactor: 8, max: 128 },
      })
      const emails = ['one', 'two', 'three', 'four'].map((name) => `${name}@example.com`)
      const answers = await Promise.all(emails.map((email) => askAs(server(), email)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403])
      const one = { users: 1, workspaces: 1, members: 1, identities: 1, sessions: 1 }
      expect(await counts(server())).toEqual(one)
      expect((await options(server())).signup).toBe('invite')

      const refused = await askAs(server(), 'late@example.com')
      expect([refused.status, refused.json, toCookieHeader(refused)]).toEqual([
        403,
        { error: 'Sign-up is by invitation' },
        '',
      ])
      expect(await counts(server())).toEqual(one)
      const email = emails[answers.findIndex(({ status }) => status === 200)] as string
      const signedIn = await server().post('/api/auth/sign-in/email', {
        email: ` ${email.toUpperCase()} `,
        password: PASSWORD,
      })
      expect(signedIn.status).toBe(200)
    })
  },
  {},
)

onBothEngines('signing up', (server) => {
  let owner: SignedUpUser
  beforeAll(async () => {
    owner = await signUpOverHttp(server(), {
      name: 'Some Body',
      email: 'owner@example.com',
      password: PASSWORD,
    })
  })

  test('gives the first person a workspace of their name', async () => {
    const { json } = await owner.api('/workspaces')
    expect(json.data).toMatchObject([{ name: 'Some Body’s workspace', role: 'owner', plan: 'enterprise' }])
  })

  test('accepts an invitation once, for its address and its workspace only', async () => {
    const invited = await owner.post('/invitations', { email: 'Guest@example.com', role: 'member' })
    const invitation = new URL(invited.json.data.url).searchParams.get('token') as string
    const shown = await server().call(`/api/auth/invitation?token=${invitation}`)
    expect([shown.status, shown.json]).toEqual([
      200,
      { email: 'guest@example.com', workspace: 'Some Body’s workspace' },
    ])
    const before = await counts(server())
    const other = await askAs(server(), 'other@example.com', { invitation })
    expect([other.status, other.json]).toEqual([
      403,
      { error: 'This invitation is for another email address' },
    ])
    const unknown = await askAs(server(), 'guest@example.com', { invitation: 'not-one' })
    expect([unknown.status, unknown.json]).toEqual([404, { error: 'Invitation not found' }])
    expect(await counts(server())).toEqual(before)

    const guest = await signUpOverHttp(server(), { email: 'guest@example.com', invitation })
    expect(guest.workspaceId).toBe(owner.workspaceId)
    // The inviter has the same link, so the link does not verify the address.
    expect((await guest.auth('/get-session')).json.user.emailVerified).toBe(false)
    expect((await guest.api('/workspaces')).json.data).toMatchObject([{ role: 'member' }])
    const used = await askAs(server(), 'guest@example.com', { invitation })
    expect([used.status, used.json]).toEqual([404, { error: 'Invitation not found' }])
    for (const token of [invitation, 'x', '']) {
      expect((await server().call(`/api/auth/invitation?token=${token}`)).status).toBe(404)
    }
  })

  test('tells a person with an account to sign in, and keeps the invitation', async () => {
    const { json } = await owner.post('/workspaces', { name: 'Second' })
    const invited = await owner.api(
      '/invitations',
      { method: 'POST', body: { email: 'guest@example.com', role: 'owner' } },
      json.data.id,
    )
    const invitation = new URL(invited.json.data.url).searchParams.get('token') as string
    const again = await askAs(server(), 'GUEST@example.com', { invitation })
    expect([again.status, again.json]).toEqual([
      409,
      { error: 'This email address has an account already: sign in' },
    ])
    expect((await server().call(`/api/auth/invitation?token=${invitation}`)).status).toBe(200)
  })

  test('requires passwords of 12 to 128 characters that are neither common nor about the person', async () => {
    const invited = await owner.post('/invitations', { email: 'new@example.com' })
    const invitation = new URL(invited.json.data.url).searchParams.get('token') as string
    for (const [password, message] of [
      ['short', 'must be at least 12 characters'],
      ['🔑🔑🔑🔑🔑🔑', 'must be at least 12 characters'],
      ['elevenchars', 'must be at least 12 characters'],
      ['x'.repeat(129), 'must be at most 128 characters'],
      ['Password123!', 'This password is too common. Choose another one.'],
      // From the list, and in no rule of ours.
      ['thunderbird1', 'This password is too common. Choose another one.'],
      ['new@example.com', PERSONAL],
      ['Body+Some!2027x', PERSONAL],
      ['Towpath!Towpath!', PERSONAL],
      ['a long\0password', 'must not contain NUL or broken Unicode characters'],
      [1234567890, 'must be a string'],
      [undefined, 'is required'],
    ] as const) {
      const { status, json } = await askAs(server(), 'new@example.com', { password, invitation })
      expect([status, json.errors, json.error]).toEqual([422, { password: message }, `password: ${message}`])
    }
  })

  test('refuses unknown fields', async () => {
    for (const [more, field] of [
      [{ role: 'owner' }, 'role'],
      [{ emailVerified: true }, 'emailVerified'],
      [{ callbackURL: 'https://evil.example' }, 'callbackURL'],
      [{ rememberMe: false }, 'rememberMe'],
      [{ name: ' ' }, 'name'],
      [{ email: 'nobody' }, 'email'],
      [{ email: 'a@example.com\nBcc: b@example.com' }, 'email'],
    ] as const) {
      const { status, json } = await askAs(server(), 'new@example.com', more)
      expect([status, Object.keys(json.errors)]).toEqual([422, [field]])
    }
    const plain = { method: 'POST', body: 'a=b', headers: { 'Content-Type': 'text/plain' } }
    expect((await server().call('/api/auth/sign-up/email', plain)).status).toBe(415)
    expect((await server().post('/api/auth/sign-up/email', '[]')).status).toBe(400)
  })
})
