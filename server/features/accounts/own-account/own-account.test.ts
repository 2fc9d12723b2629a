// A person's own account: notices by mail, another address, and the end of the account.

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { until } from '../../../../tests/support/until.ts'
import {
  type SignedUpUser,
  signUpOverHttp,
  toCookieHeader,
  toSignedUpUser,
} from '../../../../tests/support/users/sign-up.ts'
import { onBothEngines, onSqlite, type TestServer } from '../../../../tests/support/world.ts'
import { closeMailers } from '../../../http/mail/smtp.ts'
import { setUpApp, showCode, signInAgain } from '../second-factor/second-factor.fixture.ts'

// At most two passwords are hashed at a time, so tests are slow on a busy machine.
setDefaultTimeout(120_000)

const mail = await startMailServer()
afterAll(async () => {
  closeMailers()
  await mail.stop()
})

const DAY = 24 * 60 * 60 * 1000
let shift = 0
const now = () => Date.now() + shift
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** Waits for the mail, and takes it. */
async function takeMail(to: string, subject: string): Promise<string> {
  const find = () => mail.mails.findIndex((each) => each.to.includes(to) && each.parsed.subject === subject)
  const index = await until(`"${subject}" to ${to}`, () => (find() === -1 ? undefined : find() + 1))
  return mail.mails.splice(index - 1, 1)[0]?.parsed.text ?? ''
}
const subjectsTo = (to: string) =>
  mail.mails.filter((each) => each.to.includes(to)).map(({ parsed }) => parsed.subject)
const tokenIn = (text: string) => /token=([\w-]+)/.exec(text)?.[1] ?? ''

const post = (who: SignedUpUser, path: string, body?: object) => who.auth(path, { method: 'POST', body })
const open = (server: TestServer, path: string, token: string) =>
  server.call(`/api/auth/change-email/${path}`, { method: 'POST', body: { token } })

const withMail = {
  now,
  clock: () => performance.now() + shift,
  environment: { SIGNUP: 'open', SMTP_URL: mail.url(), MAIL_FROM: 'towpath@example.com' },
}

onBothEngines(
  'notices',
  (server) => {
    test('tell a person of a new device, once, and of nothing that a known device does', async () => {
      const ada = await signUpOverHttp(server())
      // The browser that has signed up is known.
      const known = await signInAgain(server(), ada, { Cookie: ada.cookie, 'User-Agent': FIREFOX })
      expect(known.answer.status).toBe(200)
      const other = await signInAgain(server(), ada, { 'User-Agent': `${FIREFOX} <b>evil</b>` })
      const text = await takeMail(ada.email, 'New sign-in to your account')
      expect(text).toContain('A new device signed in to your account: Firefox on Linux.')
      expect(text).toContain(server().origin)
      expect(text).not.toMatch(/127\.0\.0\.1(?!:\d)|evil/)
      await signInAgain(server(), ada, { Cookie: other.person.cookie, 'User-Agent': FIREFOX })
      // A browser of somebody else is no known device, and a forged cookie is none.
      const bob = await signUpOverHttp(server())
      await signInAgain(server(), ada, { Cookie: `${bob.cookie}`, 'User-Agent': FIREFOX })
      await takeMail(ada.email, 'New sign-in to your account')
      await signInAgain(server(), ada, { Cookie: 'towpath_device=1.AAAA' })
      await takeMail(ada.email, 'New sign-in to your account')
      expect(subjectsTo(ada.email)).toEqual([])
    })

    test('tell a person of changes of the password and of second factors', async () => {
      const ada = await signUpOverHttp(server())
      const changed = await post(ada, '/change-password', {
        currentPassword: ada.password,
        newPassword: 'something else entirely',
      })
      await takeMail(ada.email, 'Your password was changed')
      const own = toSignedUpUser(server(), toCookieHeader(changed), ada)
      const app = await setUpApp(own, now)
      expect(await takeMail(ada.email, 'A second factor was added to your account')).toContain(
        'An authenticator app was added as a second factor. All other sessions have ended.',
      )
      const { person } = await signInAgain(server(), { ...ada, password: 'something else entirely' })
      // The password alone is no sign-in, and no notice.
      expect(subjectsTo(ada.email)).toEqual([])
      const [recoveryCode = ''] = app.recoveryCodes
      await post(person, '/second-factor/verify', { recoveryCode })
      expect(await takeMail(ada.email, 'A recovery code was used for your account')).toContain('9 left')
      await takeMail(ada.email, 'New sign-in to your account')
      await post(own, '/second-factor/recovery-codes')
      await takeMail(ada.email, 'New recovery codes were created for your account')
      await post(own, '/second-factor/app/remove')
      await takeMail(ada.email, 'A second factor was removed from your account')
    })

    test('tell a person once a day that somebody has the password and guesses the second factor', async () => {
      const ada = await signUpOverHttp(server())
      await setUpApp(ada, now)
      const { person } = await signInAgain(server(), ada, { Cookie: ada.cookie })
      for (let n = 0; n < 8; n++) await post(person, '/second-factor/verify', { code: `00000${n}` })
      await takeMail(ada.email, 'Somebody may know your password')
      await takeMail(ada.email, 'A second factor was added to your account')
      expect(subjectsTo(ada.email)).toEqual([])
    })
  },
  withMail,
)

onBothEngines(
  'a change of address',
  (server) => {
    const addressOf = async (who: SignedUpUser) => (await who.auth('/get-session')).json?.user.email
    let people = 0
    const newAddress = () => `new-${server().engine}-${++people}@example.com`
    const request = async (who: SignedUpUser, newEmail: string) => {
      const answer = await post(who, '/change-email', { newEmail })
      expect([answer.status, answer.json]).toEqual([200, { status: true }])
    }

    test('is confirmed by a link to the new address, which works once and for an hour', async () => {
      const ada = await signUpOverHttp(server())
      const address = newAddress()
      await request(ada, ` ${address.toUpperCase()} `)
      const notice = await takeMail(ada.email, 'Your e-mail address is about to change')
      expect(notice).not.toContain(address)
      const token = tokenIn(await takeMail(address, 'Confirm your new e-mail address'))
      expect(await addressOf(ada)).toBe(ada.email)
      const kept = JSON.stringify(
        await server().app.db.read.selectFrom('verifications').selectAll().execute(),
      )
      expect(kept).not.toContain(token)

      const answers = await Promise.all([1, 2].map(() => open(server(), 'confirm', token)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
      const user = (await ada.auth('/get-session')).json.user
      expect([user.email, user.emailVerified]).toEqual([address, true])
      await takeMail(ada.email, 'Your e-mail address was changed')
      expect((await signInAgain(server(), ada)).answer.status).toBe(401)
      expect((await signInAgain(server(), { ...ada, email: address })).answer.status).toBe(200)

      const later = newAddress()
      await request(ada, later)
      const late = tokenIn(await takeMail(later, 'Confirm your new e-mail address'))
      shift += 60 * 60_000 + 1
      expect((await open(server(), 'confirm', late)).status).toBe(422)
    })

    test('does not tell whether the new address has an account, and never takes it', async () => {
      const [ada, bob] = [await signUpOverHttp(server()), await signUpOverHttp(server())]
      await request(ada, bob.email)
      await takeMail(ada.email, 'Your e-mail address is about to change')
      const address = newAddress()
      await request(ada, address)
      const token = tokenIn(await takeMail(address, 'Confirm your new e-mail address'))
      // Somebody signs up with the address in the meantime.
      await signUpOverHttp(server(), { email: address })
      const taken = await open(server(), 'confirm', token)
      expect([taken.status, taken.json]).toEqual([409, { error: 'This e-mail address has an account' }])
      expect(subjectsTo(bob.email)).toEqual([])
      expect(await addressOf(ada)).toBe(ada.email)
      expect((await post(ada, '/change-email', { newEmail: ada.email })).status).toBe(422)
    })

    test('can be stopped at the old address before it is confirmed', async () => {
      const ada = await signUpOverHttp(server())
      const address = newAddress()
      await request(ada, address)
      const stop = tokenIn(await takeMail(ada.email, 'Your e-mail address is about to change'))
      const token = tokenIn(await takeMail(address, 'Confirm your new e-mail address'))
      const stopped = await open(server(), 'undo', stop)
      expect(stopped.status).toBe(200)
      expect((await open(server(), 'confirm', token)).status).toBe(422)
      expect((await open(server(), 'undo', stop)).status).toBe(422)
      // Whoever asked for the change was signed in: all sessions end, and the owner sets a new password.
      expect((await ada.auth('/get-session')).json).toBeNull()
      const reset = await server().call('/api/auth/reset-password', {
        method: 'POST',
        body: { token: tokenIn(stopped.json.resetUrl), newPassword: 'only the owner knows this' },
      })
      expect(reset.status).toBe(200)
    })

    test('is undone for seven days, with the second factor that a thief has added', async () => {
      const ada = await signUpOverHttp(server())
      const [theirs, next] = [newAddress(), newAddress()]
      await request(ada, theirs)
      await open(server(), 'confirm', tokenIn(await takeMail(theirs, 'Confirm your new e-mail address')))
      const undo = tokenIn(await takeMail(ada.email, 'Your e-mail address was changed'))
      await setUpApp(ada, now)
      // A second change does not shake the owner off, and gives the thief no way to undo the undoing.
      await request(ada, next)
      const thiefsUndo = tokenIn(await takeMail(theirs, 'Your e-mail address is about to change'))
      await open(server(), 'confirm', tokenIn(await takeMail(next, 'Confirm your new e-mail address')))
      shift += 6 * DAY
      const undone = await open(server(), 'undo', undo)
      expect(undone.status).toBe(200)
      expect((await open(server(), 'undo', thiefsUndo)).status).toBe(422)
      expect((await ada.auth('/get-session')).json).toBeNull()
      await server().call('/api/auth/reset-password', {
        method: 'POST',
        body: { token: tokenIn(undone.json.resetUrl), newPassword: 'only the owner knows this' },
      })
      const { answer } = await signInAgain(server(), { ...ada, password: 'only the owner knows this' })
      expect([answer.status, answer.json]).toEqual([200, { status: true }])
    })

    test('can no longer be undone after seven days', async () => {
      const ada = await signUpOverHttp(server())
      await request(ada, newAddress())
      const stop = tokenIn(await takeMail(ada.email, 'Your e-mail address is about to change'))
      shift += 7 * DAY + 1
      expect((await open(server(), 'undo', stop)).status).toBe(422)
    })

    test('is limited, because it mails addresses of strangers', async () => {
      const ada = await signUpOverHttp(server())
      for (let n = 0; n < 5; n++) await request(ada, newAddress())
      expect((await post(ada, '/change-email', { newEmail: newAddress() })).status).toBe(429)
    })
  },
  withMail,
)

onBothEngines(
  'the end of an account',
  (server) => {
    const inviteTo = async (owner: SignedUpUser, email: string) => {
      const { json } = await owner.api('/invitations', { method: 'POST', body: { email } })
      return signUpOverHttp(server(), { email, invitation: tokenIn(json.data.url) })
    }
    const createWorkspace = async (who: SignedUpUser, name: string): Promise<number> =>
      (await who.api('/workspaces', { method: 'POST', body: { name } })).json.data.id

    test('deletes the workspaces of this person alone, and refuses while a shared one would lose its owner', async () => {
      const ada = await signUpOverHttp(server(), { name: 'Ada' })
      const alone = await createWorkspace(ada, 'Alone')
      const link = { destinationUrl: 'https://example.com/' }
      const { slug } = (await ada.api('/links', { method: 'POST', body: link }, alone)).json.data
      expect((await server().click(slug)).status).toBe(302)
      const bob = await inviteTo(ada, `bob-${server().engine}@example.com`)

      const shared = { id: ada.workspaceId, name: 'Ada’s workspace' }
      expect((await ada.auth('/delete-account')).json).toEqual({
        workspaces: [{ id: alone, name: 'Alone' }],
        needOwner: [shared],
      })
      const wrong = await post(ada, '/delete-account', { confirm: bob.email })
      expect([wrong.status, wrong.json.errors]).toEqual([422, { confirm: 'must be your e-mail address' }])
      const refused = await post(ada, '/delete-account', { confirm: ada.email })
      expect([refused.status, refused.json.error]).toEqual([
        409,
        'You are the only owner of "Ada’s workspace", which has other members: make one of them an owner, or delete the workspace',
      ])
      expect((await ada.api('/links', {}, alone)).status).toBe(200)

      const { id } = (await bob.auth('/get-session')).json.user
      await ada.api(`/members/${id}`, { method: 'PATCH', body: { role: 'owner' } })
      const done = await post(ada, '/delete-account', { confirm: ` ${ada.email.toUpperCase()} ` })
      expect([done.status, toCookieHeader(done)]).toEqual([200, ''])
      await takeMail(ada.email, 'Your account was deleted')
      expect((await ada.auth('/get-session')).json).toBeNull()
      expect((await signInAgain(server(), ada)).answer.status).toBe(401)
      expect((await server().click(slug)).status).toBe(404)
      const members = (await bob.api('/members', {}, ada.workspaceId)).json.data
      expect(members.map(({ email }: { email: string }) => email)).toEqual([bob.email])
      expect((await signUpOverHttp(server(), { email: ada.email })).email).toBe(ada.email)
    })

    test('leaves no row of the person', async () => {
      const cy = await signUpOverHttp(server())
      const { id } = (await cy.auth('/get-session')).json.user
      const app = await setUpApp(cy, now)
      expect(showCode(app.secret, now())).toMatch(/^\d{6}$/)
      await post(cy, '/change-email', { newEmail: `cy-new-${server().engine}@example.com` })
      expect((await post(cy, '/delete-account', { confirm: cy.email })).status).toBe(200)
      const { read } = server().app.db
      for (const table of [
        'sessions',
        'identities',
        'totp_secrets',
        'recovery_codes',
        'passkeys',
        'members',
      ] as const) {
        const rows = await read.selectFrom(table).selectAll().where('user_id', '=', id).execute()
        expect([table, rows]).toEqual([table, []])
      }
      const links = await read.selectFrom('verifications').select('value').execute()
      expect(links.filter(({ value }) => value === String(id) || value.startsWith(`${id} `))).toEqual([])
    })

    test('is no way out of a suspension', async () => {
      const ada = await signUpOverHttp(server())
      const body = { destinationUrl: 'https://example.com/' }
      const { id } = (await ada.api('/links', { method: 'POST', body })).json.data
      const { db } = server().app
      const suspend = (table: 'links' | 'workspaces', row: number, at: number | null) =>
        db.write((connection) =>
          connection.updateTable(table).set({ suspended_at: at }).where('id', '=', row).execute(),
        )
      const end = async () => (await post(ada, '/delete-account', { confirm: ada.email })).status
      await suspend('links', id, now())
      expect(await end()).toBe(403)
      await suspend('links', id, null)
      await suspend('workspaces', ada.workspaceId, now())
      expect(await end()).toBe(403)
      await suspend('workspaces', ada.workspaceId, null)
      expect(await end()).toBe(200)
    })

    test('lets only one of two last owners go', async () => {
      const ada = await signUpOverHttp(server())
      const bob = await inviteTo(ada, `second-${server().engine}@example.com`)
      const cy = await inviteTo(ada, `third-${server().engine}@example.com`)
      const { id } = (await bob.auth('/get-session')).json.user
      await ada.api(`/members/${id}`, { method: 'PATCH', body: { role: 'owner' } })
      const answers = await Promise.all(
        [ada, bob].map((who) => post(who, '/delete-account', { confirm: who.email })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
      expect((await cy.api('/links', {}, ada.workspaceId)).status).toBe(200)
    })
  },
  withMail,
)

onSqlite(
  'a server without mail',
  (server) => {
    test('changes no address, and sends no notice', async () => {
      const ada = await signUpOverHttp(server())
      const { status, json } = await post(ada, '/change-email', { newEmail: 'other@example.com' })
      expect([status, json]).toEqual([
        403,
        { error: 'This server sends no mail, so a new address cannot be confirmed' },
      ])
      expect((await signInAgain(server(), ada)).answer.status).toBe(200)
    })
  },
  {},
)
