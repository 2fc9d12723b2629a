// A person's own account: notices by mail, another address, and the end of the account.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { until } from '../../../../tests/support/until.ts'
import {
  type SignedUpUser,
  signUpOverHttp,
  toCookieHeader,
  toSignedUpUser,
} from '../../../../tests/support/users/sign-up.ts'
import { onBothEngines, onSqlite } from '../../../../tests/support/world.ts'
import { closeMailers } from '../../../http/mail/smtp.ts'
import { useCheapHashes } from '../../../lib/crypto/cheap-hashes.fixture.ts'
import type { Role } from '../../../lib/role.ts'
import { createPerson, type Person } from '../people.fixture.ts'
import { setUpApp, signInAgain } from '../second-factor/second-factor.fixture.ts'
import { addMember } from '../workspaces/add-member.ts'

useCheapHashes()

const mail = await startMailServer()
afterAll(async () => {
  closeMailers()
  await mail.stop()
})

const DAY = 24 * 60 * 60 * 1000
// Better Auth compares the ends of sessions with the machine's clock, which is behind this one.
let at = Date.UTC(2100, 0, 1)
const now = () => at
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

const post = (who: SignedUpUser, path: string, body?: object) => who.postAuth(path, body)

const withMail = {
  now,
  clock: now,
  environment: { SIGNUP: 'open', SMTP_URL: mail.url(), MAIL_FROM: 'towpath@example.com' },
}

onBothEngines(
  'notices',
  (server) => {
    let bob: SignedUpUser
    beforeAll(async () => {
      bob = await signUpOverHttp(server())
    })

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
      await signInAgain(server(), ada, { Cookie: bob.cookie, 'User-Agent': FIREFOX })
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
      await takeMail(ada.email, 'Someone may know your password')
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
    let addresses = 0
    const newAddress = () => `new-${server().engine}-${++addresses}@example.com`
    const request = async (who: SignedUpUser, newEmail: string) => {
      const answer = await post(who, '/change-email', { newEmail })
      expect([answer.status, answer.json]).toEqual([200, { status: true }])
    }
    const open = async (path: 'confirm' | 'undo', token: string) => {
      const { status, json } = await server().post(`/api/auth/change-email/${path}`, { token })
      return { status, json }
    }
    /** Takes the mail to the new address. @returns the token of its link */
    const takeConfirmation = async (address: string) =>
      tokenIn(await takeMail(address, 'Confirm your new email address'))
    const setPassword = (resetUrl: string, newPassword: string) =>
      server().post('/api/auth/reset-password', { token: tokenIn(resetUrl), newPassword })

    test('is confirmed by a link to the new address, which works once and for an hour', async () => {
      const ada = await signUpOverHttp(server())
      const address = newAddress()
      await request(ada, ` ${address.toUpperCase()} `)
      const notice = await takeMail(ada.email, 'Your email address is about to change')
      expect(notice).not.toContain(address)
      const token = await takeConfirmation(address)
      expect(await addressOf(ada)).toBe(ada.email)
      const kept = await server().rows('verifications')
      expect(JSON.stringify(kept)).not.toContain(token)

      const answers = await Promise.all([1, 2].map(() => open('confirm', token)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
      const user = (await ada.auth('/get-session')).json.user
      expect([user.email, user.emailVerified]).toEqual([address, true])
      await takeMail(ada.email, 'Your email address was changed')
      expect((await signInAgain(server(), ada)).answer.status).toBe(401)
      expect((await signInAgain(server(), { ...ada, email: address })).answer.status).toBe(200)

      const later = newAddress()
      await request(ada, later)
      const late = await takeConfirmation(later)
      at += 60 * 60_000 + 1
      expect((await open('confirm', late)).status).toBe(422)
    })

    test('does not tell whether the new address has an account, and never takes it', async () => {
      const [ada, bob] = [await createPerson(server()), await createPerson(server())]
      await request(ada, bob.email)
      await takeMail(ada.email, 'Your email address is about to change')
      const address = newAddress()
      await request(ada, address)
      const token = await takeConfirmation(address)
      // Somebody signs up with the address in the meantime.
      await signUpOverHttp(server(), { email: address })
      expect(await open('confirm', token)).toEqual({
        status: 409,
        json: { error: 'This email address has an account' },
      })
      expect(subjectsTo(bob.email)).toEqual([])
      expect(await addressOf(ada)).toBe(ada.email)
      expect((await post(ada, '/change-email', { newEmail: ada.email })).status).toBe(422)
    })

    test('can be stopped at the old address before it is confirmed', async () => {
      const ada = await createPerson(server())
      const address = newAddress()
      await request(ada, address)
      const stop = tokenIn(await takeMail(ada.email, 'Your email address is about to change'))
      const token = await takeConfirmation(address)
      const stopped = await open('undo', stop)
      expect(stopped.status).toBe(200)
      expect((await open('confirm', token)).status).toBe(422)
      expect((await open('undo', stop)).status).toBe(422)
      // The change came from a signed-in session: all sessions end, and the owner sets a new password.
      expect((await ada.auth('/get-session')).json).toBeNull()
      expect((await setPassword(stopped.json.resetUrl, 'only the owner knows this')).status).toBe(200)
    })

    test('is undone for seven days, with the second factor that a thief has added', async () => {
      const ada = await createPerson(server())
      const [theirs, next] = [newAddress(), newAddress()]
      await request(ada, theirs)
      await open('confirm', await takeConfirmation(theirs))
      const undo = tokenIn(await takeMail(ada.email, 'Your email address was changed'))
      await setUpApp(ada, now)
      // A second change does not shake the owner off, and gives the thief no way to undo the undoing.
      await request(ada, next)
      const thiefsUndo = tokenIn(await takeMail(theirs, 'Your email address is about to change'))
      await open('confirm', await takeConfirmation(next))
      at += 6 * DAY
      const undone = await open('undo', undo)
      expect(undone.status).toBe(200)
      expect((await open('undo', thiefsUndo)).status).toBe(422)
      expect((await ada.auth('/get-session')).json).toBeNull()
      const password = 'only the owner knows this'
      await setPassword(undone.json.resetUrl, password)
      const { answer } = await signInAgain(server(), { ...ada, password })
      expect([answer.status, answer.json]).toEqual([200, { status: true }])
    })

    test('can no longer be undone after seven days', async () => {
      const ada = await createPerson(server())
      await request(ada, newAddress())
      const stop = tokenIn(await takeMail(ada.email, 'Your email address is about to change'))
      at += 7 * DAY + 1
      expect((await open('undo', stop)).status).toBe(422)
    })

    test('is limited, because it mails addresses of strangers', async () => {
      const ada = await createPerson(server())
      for (let n = 0; n < 5; n++) await request(ada, newAddress())
      expect((await post(ada, '/change-email', { newEmail: newAddress() })).status).toBe(429)
    })
  },
  withMail,
)

onBothEngines(
  'the end of an account',
  (server) => {
    const end = (who: SignedUpUser, confirm = who.email) => post(who, '/delete-account', { confirm })
    const join = ({ email }: Person, { workspaceId }: SignedUpUser, role: Role) =>
      addMember({ db: server().app.db, now }, { workspaceId, email, role })

    test('deletes the workspaces of this person alone, and refuses while a shared one would lose its owner', async () => {
      const ada = await signUpOverHttp(server(), { name: 'Ada' })
      const own = { method: 'POST', body: { name: 'Alone' } }
      const alone: number = (await ada.api('/workspaces', own)).json.data.id
      const link = { destinationUrl: 'https://example.com/' }
      const { slug } = (await ada.api('/links', { method: 'POST', body: link }, alone)).json.data
      expect((await server().click(slug)).status).toBe(302)
      const bob = await createPerson(server())
      await join(bob, ada, 'member')

      const shared = { id: ada.workspaceId, name: 'Ada’s workspace' }
      expect((await ada.auth('/delete-account')).json).toEqual({
        workspaces: [{ id: alone, name: 'Alone' }],
        needOwner: [shared],
      })
      const wrong = await end(ada, bob.email)
      expect([wrong.status, wrong.json.errors]).toEqual([422, { confirm: 'must be your email address' }])
      const refused = await end(ada)
      expect([refused.status, refused.json.error]).toEqual([
        409,
        'You are the only owner of "Ada’s workspace", which has other members: make one of them an owner, or delete the workspace',
      ])
      expect((await ada.api('/links', {}, alone)).status).toBe(200)

      await ada.patch(`/members/${bob.id}`, { role: 'owner' })
      const done = await end(ada, ` ${ada.email.toUpperCase()} `)
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
      await setUpApp(cy, now)
      await post(cy, '/change-email', { newEmail: `cy-new-${server().engine}@example.com` })
      expect((await end(cy)).status).toBe(200)
      const { read } = server().app.db
      const tables = [
        'sessions',
        'identities',
        'totp_secrets',
        'recovery_codes',
        'passkeys',
        'members',
      ] as const
      for (const table of tables) {
        const rows = await read.selectFrom(table).selectAll().where('user_id', '=', id).execute()
        expect([table, rows]).toEqual([table, []])
      }
      const links = await read.selectFrom('verifications').select('value').execute()
      expect(links.filter(({ value }) => value === String(id) || value.startsWith(`${id} `))).toEqual([])
    })

    test('is no way out of a suspension', async () => {
      const ada = await createPerson(server())
      const body = { destinationUrl: 'https://example.com/' }
      const { id } = (await ada.post('/links', body)).json.data
      const suspend = (table: 'links' | 'workspaces', row: number, suspended_at: number | null) =>
        server().update(table, { id: row }, { suspended_at })
      await suspend('links', id, at)
      expect((await end(ada)).status).toBe(403)
      await suspend('links', id, null)
      await suspend('workspaces', ada.workspaceId, at)
      expect((await end(ada)).status).toBe(403)
      await suspend('workspaces', ada.workspaceId, null)
      expect((await end(ada)).status).toBe(200)
    })

    test('lets only one of two last owners go', async () => {
      const ada = await createPerson(server())
      const [bob, cy] = [await createPerson(server()), await createPerson(server())]
      await join(bob, ada, 'owner')
      await join(cy, ada, 'member')
      const answers = await Promise.all([end(ada), end(bob)])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
      expect((await cy.api('/links', {}, ada.workspaceId)).status).toBe(200)
    })
  },
  withMail,
)

onSqlite('a server without mail', (server) => {
  test('changes no address, and sends no notice', async () => {
    const ada = await signUpOverHttp(server())
    const { status, json } = await post(ada, '/change-email', { newEmail: 'other@example.com' })
    expect([status, json]).toEqual([
      403,
      { error: 'This server can’t send email, so a new address can’t be confirmed' },
    ])
    expect((await signInAgain(server(), ada)).answer.status).toBe(200)
  })
})
