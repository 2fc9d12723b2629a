import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { until } from '../../../../tests/support/until.ts'
import { type SignedUpUser, signUpOverHttp, toCookieHeader } from '../../../../tests/support/users/sign-up.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { closeMailers } from '../../../http/mail/smtp.ts'
import { useCheapHashes } from '../../../lib/crypto/cheap-hashes.fixture.ts'
import { createPerson } from '../people.fixture.ts'
import { signInAgain } from '../second-factor/second-factor.fixture.ts'
import { createResetLink } from './reset-password.ts'

useCheapHashes()

const mail = await startMailServer()
afterAll(async () => {
  closeMailers()
  await mail.stop()
})

const MINUTE = 60_000
let at = Date.UTC(2026, 4, 1)
const now = () => at

onBothEngines(
  'a forgotten password',
  (server) => {
    let ada: SignedUpUser
    beforeAll(async () => {
      ada = await signUpOverHttp(server(), { email: 'ada@example.com' })
    })

    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      server().post(`/api/auth${path}`, body, headers)
    const forgot = (email: string, headers = {}) => post('/request-password-reset', { email }, headers)
    const reset = (token: string, newPassword: string) => post('/reset-password', { token, newPassword })
    const signIn = async (password: string) =>
      (await post('/sign-in/email', { email: ada.email, password })).status
    // A mail of the other engine's server may still arrive.
    const isOwnMail = ({ parsed }: (typeof mail.mails)[number]) =>
      parsed.subject === 'Reset your password' && parsed.text?.includes(server().origin)
    const takeOwnMail = () => {
      const index = mail.mails.findIndex(isOwnMail)
      return index === -1 ? undefined : mail.mails.splice(index, 1)[0]
    }
    const link = async () => {
      const sent = await until('the mail', takeOwnMail)
      expect(sent.to).toEqual([ada.email])
      return URL.parse(/https?:\S+token=\S+/.exec(sent.parsed.text ?? '')?.[0] ?? '') as URL
    }
    const tokenOf = (url: URL) => url.searchParams.get('token') as string
    const linkFor = async (email: string) => {
      const { db } = server().app
      const user = await server().row('users', { email })
      return tokenOf(new URL(await createResetLink({ db, now, origin: server().origin }, user.id)))
    }

    test('is reset by a link in a mail, whose host is the server and not the Host of the request', async () => {
      expect((await server().call('/api/auth/options')).json.mail).toBe(true)
      const answer = await forgot(' ADA@example.com', { 'X-Forwarded-Host': 'evil.example' })
      expect([answer.status, answer.json]).toEqual([200, { status: true }])
      const url = await link()
      expect([url.origin, url.pathname]).toEqual([server().origin, '/app/reset'])
      const token = tokenOf(url)
      const kept = await server().rows('verifications')
      expect(kept).toHaveLength(1)
      expect(JSON.stringify(kept)).not.toContain(token)

      const weak = await reset(token, 'password123')
      expect([weak.status, Object.keys(weak.json.errors)]).toEqual([422, ['newPassword']])
      const done = await reset(token, 'another long one')
      expect([done.status, done.json]).toEqual([200, { status: true }])
      // The browser becomes a known device, and nobody is signed in.
      expect(toCookieHeader(done)).toMatch(/^towpath_device=[^;]+$/)
      expect([await signIn(ada.password), await signIn('another long one')]).toEqual([401, 200])
    })

    test('ends every session, and verifies the address', async () => {
      expect((await ada.api('/links')).status).toBe(401)
      const { email_verified } = await server().row('users', { email: ada.email })
      expect(email_verified).toBe(1)
    })

    test('gives an unknown address the same answer, and sends no mail', async () => {
      const known = await forgot(ada.email)
      const unknown = await forgot('nobody@example.com')
      expect([unknown.status, unknown.text]).toEqual([known.status, known.text])
      expect([...unknown.headers.keys()]).toEqual([...known.headers.keys()])
      await link()
      expect(mail.mails.filter(isOwnMail)).toEqual([])
    })

    test('accepts a link once, also from parallel requests, and ends the other links', async () => {
      const [one, other] = [await linkFor(ada.email), await linkFor(ada.email)]
      const answers = await Promise.all(['first password', 'second password'].map((word) => reset(one, word)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
      for (const token of [one, other, 'x', `${one}x`]) {
        const { status, json } = await reset(token, 'a third password')
        expect([status, json.errors]).toEqual([422, { token: 'is no longer valid: ask for a new link' }])
      }
    })

    test('accepts a link for 30 minutes', async () => {
      const token = await linkFor(ada.email)
      at += 30 * MINUTE + 1
      expect((await reset(token, 'a third password')).status).toBe(422)
      const fresh = await linkFor(ada.email)
      at += 29 * MINUTE
      expect((await reset(fresh, 'a third password')).status).toBe(200)
    })

    test('sets a first password, and deletes identities from before the address was verified', async () => {
      const { db } = server().app
      const { id } = await db.write((connection) =>
        connection
          .insertInto('users')
          .values({
            email: 'new@example.com',
            name: 'New',
            image: null,
            founder: null,
            created_at: at,
            updated_at: at,
          })
          .returning('id')
          .executeTakeFirstOrThrow(),
      )
      const planted = {
        user_id: id,
        provider_id: 'oidc',
        account_id: 'mallory',
        created_at: at,
        updated_at: at,
      }
      await server().insert('identities', planted)
      expect((await reset(await linkFor('new@example.com'), 'my very first one')).status).toBe(200)
      const ways = await server().rows('identities', { user_id: id })
      expect(ways.map(({ provider_id }) => provider_id)).toEqual(['credential'])
      const body = { email: 'new@example.com', password: 'my very first one' }
      expect((await post('/sign-in/email', body)).status).toBe(200)
    })

    test('sends one address at most three mails in half an hour, and answers as if it sent more', async () => {
      await server().app.db.write((connection) => connection.deleteFrom('verifications').execute())
      const links = () => server().rows('verifications')
      for (const email of [ada.email, 'nobody@example.com']) {
        for (let i = 0; i < 6; i++) expect((await forgot(email)).status).toBe(200)
      }
      // Requests of other tests count too.
      await until('the mails', async () => (await links()).length > 0)
      expect((await links()).length).toBeLessThanOrEqual(3)
      const others = Array.from({ length: 20 }, (_, i) => forgot(`other-${i}@example.com`))
      expect((await Promise.all(others)).map(({ status }) => status)).toContain(429)
    })
  },
  { environment: { SMTP_URL: mail.url(), MAIL_FROM: 'Towpath <leads@example.com>' }, now },
)

onBothEngines('passwords and names of people', (server) => {
  let ada: SignedUpUser
  beforeAll(async () => {
    ada = (await signInAgain(server(), await createPerson(server()))).person
  })
  const post = (path: string, body: object) => ada.postAuth(path, body)

  test('without mail a reset is refused with the advice to ask the operator', async () => {
    expect((await server().call('/api/auth/options')).json.mail).toBe(false)
    const { status, json } = await post('/request-password-reset', { email: ada.email })
    expect([status, json]).toEqual([
      403,
      { error: 'This server can’t send email. Ask its operator for a new password' },
    ])
  })

  test('changes a name and a language, and no other field', async () => {
    expect((await post('/update-user', { language: 'de' })).status).toBe(200)
    expect((await ada.auth('/get-session')).json.user).toMatchObject({ language: 'de', email: ada.email })
    for (const language of ['', 'DE', 'de-DE', 'de; path=/', 1]) {
      expect((await post('/update-user', { language })).status).toBe(422)
    }
    expect((await post('/update-user', {})).status).toBe(422)
    expect((await post('/update-user', { language: null, name: 'Ada' })).status).toBe(200)
    expect((await ada.auth('/get-session')).json.user.language).toBeNull()
    expect((await post('/update-user', { name: '  Ada L. ' })).status).toBe(200)
    expect((await ada.auth('/get-session')).json.user).toMatchObject({ name: 'Ada L.', email: ada.email })
    for (const more of [
      { email: 'x@example.com' },
      { emailVerified: true },
      { image: 'javascript:' },
      { id: 2 },
    ]) {
      expect((await post('/update-user', { name: 'A', ...more })).status).toBe(422)
    }
    expect((await server().post('/api/auth/update-user', { name: 'A' })).status).toBe(401)
  })

  test('changes a password for a person who knows it, ends other sessions, and renews the cookie of this one', async () => {
    const other = await server().post('/api/auth/sign-in/email', { email: ada.email, password: ada.password })
    const change = (currentPassword: string, newPassword: string) =>
      post('/change-password', { currentPassword, newPassword })
    const wrong = await change('not my password', 'a new long password')
    expect([wrong.status, wrong.json.errors]).toEqual([422, { currentPassword: 'is not your password' }])
    expect((await change(ada.password, 'qwertyuiop')).json.errors).toHaveProperty('newPassword')

    const changed = await change(ada.password, 'a new long password')
    expect([changed.status, changed.json]).toEqual([200, { status: true }])
    const statusWith = async (cookie: string) =>
      (await server().call('/v1/workspaces', { headers: { Cookie: cookie } })).status
    expect(await statusWith(toCookieHeader(changed))).toBe(200)
    expect([await statusWith(ada.cookie), await statusWith(toCookieHeader(other))]).toEqual([401, 401])
    const body = { email: ada.email, password: 'a new long password' }
    expect((await server().post('/api/auth/sign-in/email', body)).status).toBe(200)
  })

  test('limits guesses of the password with a stolen session', async () => {
    const { person: stolen } = await signInAgain(server(), await createPerson(server()))
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) {
      const body = { currentPassword: `guess ${i}`, newPassword: 'a new long password' }
      const answer = await stolen.postAuth('/change-password', body)
      statuses.push(answer.status)
    }
    // The device of the session has ten tries.
    expect(statuses).toEqual([...Array(10).fill(422), 429, 429])
  })
})
