// The second step of a sign-in: authenticator app and recovery codes. (tests/browser/account.test.ts has passkeys.)

import { beforeAll, beforeEach, expect, test } from 'bun:test'
import { type SignedUpUser, toCookieHeader } from '../../../../tests/support/users/sign-up.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { useCheapHashes } from '../../../lib/crypto/cheap-hashes.fixture.ts'
import { createResetLink } from '../auth/reset-password.ts'
import { createPerson } from '../people.fixture.ts'
import { addMember } from '../workspaces/add-member.ts'
import { resetSecondFactor } from './factors.ts'
import { type AppOwner, setUpApp, showCode, signInAgain } from './second-factor.fixture.ts'

useCheapHashes()

const MINUTE = 60_000
// Better Auth compares the ends of sessions with the machine's clock, which is behind this one.
let at = Date.UTC(2100, 0, 1)
const now = () => at
const WRONG_CODE = { code: 'is wrong or was used already: type the code that your app shows now' }

onBothEngines(
  'a second factor',
  (server) => {
    let ada: SignedUpUser
    let app: AppOwner
    beforeAll(async () => {
      ada = await createPerson(server())
      app = await setUpApp(ada, now)
    })
    const nextCode = () => {
      at += MINUTE
      return showCode(app.secret, now())
    }
    // Each test has an address of its own: PostgreSQL counts guesses by its own clock, which no test can move.
    let address = 0
    beforeEach(() => {
      address += 1
    })
    const from = () => ({ 'X-Forwarded-For': `203.0.113.${address}` })
    const post = (who: SignedUpUser, path: string, body?: object) => who.postAuth(path, body, from())
    const again = (who: SignedUpUser) => signInAgain(server(), who, from())
    const isIn = async (who: SignedUpUser) => (await who.auth('/get-session')).json !== null

    test('is asked for after the password, which gives access to nothing', async () => {
      const { answer, person } = await again(ada)
      expect([answer.status, answer.json]).toEqual([200, { status: true, secondFactor: true }])
      expect(await isIn(person)).toBe(false)
      expect((await person.api('/links')).status).toBe(401)
      for (const path of ['/second-factor', '/list-sessions']) {
        expect([path, (await person.auth(path)).status]).toEqual([path, 401])
      }
      expect((await post(person, '/confirm', { code: nextCode() })).status).toBe(401)
      expect((await person.auth('/second-factor/pending')).json).toEqual({
        authenticatorApp: true,
        passkey: false,
        recoveryCode: true,
      })
      // A sign-in that waits is no session: it is in no list, and nobody can end it there.
      expect((await ada.auth('/list-sessions')).json).toHaveLength(1)

      const done = await post(person, '/second-factor/verify', { code: nextCode() })
      expect([done.status, done.json]).toEqual([200, { status: true }])
      const token = /towpath_session=(\w+)/.exec(toCookieHeader(done))?.[1]
      expect(token).toMatch(/^\w{32}$/)
      expect(person.cookie).not.toContain(token as string)
      const whole = { Cookie: toCookieHeader(done) }
      const session = (await server().call('/api/auth/get-session', { headers: whole })).json
      expect(session.user).toMatchObject({ email: ada.email, secondFactor: true })
      // The cookie of the first step is worth nothing any more.
      expect((await post(person, '/second-factor/verify', { code: nextCode() })).status).toBe(401)
    })

    test('accepts a code once, also from parallel requests, and refuses wrong and old codes', async () => {
      const { person } = await again(ada)
      const code = nextCode()
      const wrong = await post(person, '/second-factor/verify', { code: code === '000000' ? '1' : '000000' })
      expect([wrong.status, wrong.json.errors]).toEqual([422, WRONG_CODE])
      const old = await post(person, '/second-factor/verify', { code: showCode(app.secret, now(), -3) })
      expect(old.status).toBe(422)
      const { person: other } = await again(ada)
      const answers = await Promise.all(
        [person, other].map((who) => post(who, '/second-factor/verify', { code })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
      // The code that the clock of the phone showed before cannot follow either.
      const { person: third } = await again(ada)
      const before = showCode(app.secret, now(), -1)
      expect((await post(third, '/second-factor/verify', { code: before })).status).toBe(422)
      // People type the code with the space that apps show.
      const spaced = nextCode().replace(/^.../, '$& ')
      expect((await post(third, '/second-factor/verify', { code: spaced })).status).toBe(200)
    })

    test('accepts each recovery code once, in any spelling', async () => {
      const [first = '', other = ''] = app.recoveryCodes
      expect(app.recoveryCodes).toHaveLength(10)
      expect(new Set(app.recoveryCodes).size).toBe(10)
      const { person } = await again(ada)
      const spelled = ` ${first.toUpperCase().replace('-', ' ')} `
      expect((await post(person, '/second-factor/verify', { recoveryCode: spelled })).status).toBe(200)
      const { person: second } = await again(ada)
      const replayed = await post(second, '/second-factor/verify', { recoveryCode: first })
      expect([replayed.status, replayed.json.errors]).toEqual([
        422,
        { recoveryCode: 'is not one of your codes, or was used already' },
      ])
      expect((await post(second, '/second-factor/verify', { recoveryCode: other })).status).toBe(200)
      expect((await ada.auth('/second-factor')).json.recoveryCodes).toBe(8)
    })

    test('allows five guesses for one sign-in, also in parallel, and from one address', async () => {
      const { person } = await again(ada)
      const guess = (n: number) => post(person, '/second-factor/verify', { code: `00000${n}` })
      const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => guess(n)))
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(422), 429, 429, 429])
      // The right code comes too late, and a new sign-in from the same address gives no new tries.
      expect((await post(person, '/second-factor/verify', { code: nextCode() })).status).toBe(429)
      const { person: next } = await again(ada)
      expect((await post(next, '/second-factor/verify', { code: nextCode() })).status).toBe(429)
      // The owner is somewhere else, and is not held up.
      const headers = { 'X-Forwarded-For': '203.0.113.77' }
      const { person: owner } = await signInAgain(server(), ada, headers)
      const right = await owner.postAuth('/second-factor/verify', { code: nextCode() }, headers)
      expect(right.status).toBe(200)
    })

    test('waits for ten minutes', async () => {
      const bob = await createPerson(server())
      const { secret } = await setUpApp(bob, now)
      const { person } = await again(bob)
      at += 10 * MINUTE + 1
      const late = await post(person, '/second-factor/verify', { code: showCode(secret, now()) })
      expect([late.status, late.json]).toEqual([401, { error: 'The sign-in took too long: begin again' }])
      expect((await person.auth('/second-factor/pending')).json).toBeNull()
    })

    test('is set up with a first code, ends other sessions, and is stored sealed', async () => {
      const cy = await createPerson(server())
      const { person: phone } = await again(cy)
      const started = await post(cy, '/second-factor/app')
      const { secret, uri, qrCode } = started.json
      expect(secret).toMatch(/^[A-Z2-7]{32}$/)
      expect(new URL(uri).searchParams.get('secret')).toBe(secret)
      expect(qrCode).toStartWith('data:image/svg+xml;base64,')
      // Until the first code, the password is enough.
      expect((await again(cy)).answer.json).toEqual({ status: true })
      const wrong = await post(cy, '/second-factor/app/confirm', { code: '12345' })
      expect([wrong.status, wrong.json.errors]).toEqual([422, WRONG_CODE])
      const code = showCode(secret, now())
      const confirmed = await post(cy, '/second-factor/app/confirm', { code })
      expect([confirmed.status, confirmed.json.recoveryCodes.length]).toEqual([200, 10])
      expect([await isIn(cy), await isIn(phone)]).toEqual([true, false])
      expect((await post(cy, '/second-factor/app')).status).toBe(409)

      const { read } = server().app.db
      const kept = JSON.stringify([
        await read.selectFrom('totp_secrets').selectAll().execute(),
        await read.selectFrom('recovery_codes').selectAll().execute(),
      ])
      expect(kept).not.toContain(secret)
      for (const recoveryCode of confirmed.json.recoveryCodes) {
        expect(kept).not.toContain(recoveryCode)
        expect(kept).not.toContain(recoveryCode.replace('-', ''))
      }
      // The first code is spent as well.
      const { person } = await again(cy)
      expect((await post(person, '/second-factor/verify', { code })).status).toBe(422)

      const renewed = await post(cy, '/second-factor/recovery-codes')
      expect(renewed.json.recoveryCodes).toHaveLength(10)
      const [old] = confirmed.json.recoveryCodes
      expect((await post(person, '/second-factor/verify', { recoveryCode: old })).status).toBe(422)
      const [fresh] = renewed.json.recoveryCodes
      expect((await post(person, '/second-factor/verify', { recoveryCode: fresh })).status).toBe(200)

      expect((await post(cy, '/second-factor/app/remove')).status).toBe(200)
      expect((await cy.auth('/second-factor')).json).toMatchObject({
        authenticatorApp: false,
        recoveryCodes: 0,
      })
      expect((await again(cy)).answer.json).toEqual({ status: true })
      expect((await post(cy, '/second-factor/recovery-codes')).status).toBe(409)
    })

    test('is needed after a change of password, and after a reset, too', async () => {
      const { person: dee } = await again(await createPerson(server()))
      const { secret } = await setUpApp(dee, now)
      const changed = await post(dee, '/change-password', {
        currentPassword: dee.password,
        newPassword: 'something else entirely',
      })
      // The session that has changed the password stays whole.
      const headers = { Cookie: toCookieHeader(changed) }
      expect((await server().call('/api/auth/get-session', { headers })).json.user.email).toBe(dee.email)
      const { answer, person } = await again({ ...dee, password: 'something else entirely' })
      expect(answer.json.secondFactor).toBe(true)
      expect((await post(person, '/second-factor/verify', { code: showCode(secret, now()) })).status).toBe(
        200,
      )
      const { db } = server().app
      const { id } = (await server().call('/api/auth/get-session', { headers })).json.user
      const link = new URL(await createResetLink({ db, now, origin: server().origin }, id))
      const body = { token: link.searchParams.get('token'), newPassword: 'a third long password' }
      expect((await server().post('/api/auth/reset-password', body)).status).toBe(200)
      const reset = await again({ ...dee, password: 'a third long password' })
      expect(reset.answer.json.secondFactor).toBe(true)
      expect(await isIn(reset.person)).toBe(false)
    })

    test('can be removed by the operator, for a person who has lost it', async () => {
      const eve = await createPerson(server())
      await setUpApp(eve, now)
      const { id } = (await eve.auth('/get-session')).json.user
      expect(await resetSecondFactor({ db: server().app.db, now: now }, id)).toBe(true)
      expect(await isIn(eve)).toBe(false)
      expect((await again(eve)).answer.json).toEqual({ status: true })
      expect(await resetSecondFactor({ db: server().app.db, now: now }, id)).toBe(false)
    })

    test('of one person is not reachable by another', async () => {
      const fay = await createPerson(server())
      for (const path of ['/passkeys/remove', '/passkeys/rename']) {
        expect((await post(fay, path, { id: 1, ...(path.endsWith('rename') && { name: 'x' }) })).status).toBe(
          404,
        )
      }
      expect((await post(fay, '/second-factor/app/remove')).status).toBe(404)
      expect((await ada.auth('/second-factor')).json.authenticatorApp).toBe(true)
    })
  },
  { now, clock: now, environment: { TRUST_PROXY: '127.0.0.1' } },
)

onBothEngines(
  'a workspace that requires two-factor sign-in',
  (server) => {
    const open = async (who: SignedUpUser, workspaceId: number) =>
      (await who.api('/links', {}, workspaceId)).status
    const patch = (who: SignedUpUser, body: object, workspaceId?: number) =>
      who.api('/workspace', { method: 'PATCH', body }, workspaceId)

    test('refuses members without one, says what to do, and lets them in once they have one', async () => {
      const owner = await createPerson(server())
      const member = await createPerson(server())
      const { workspaceId } = owner
      await addMember({ db: server().app.db, now }, { workspaceId, email: member.email, role: 'member' })
      expect(await open(member, workspaceId)).toBe(200)

      const early = await patch(owner, { requireTwoFactor: true })
      expect([early.status, early.json.errors]).toEqual([
        422,
        { requireTwoFactor: 'requires that you have a second factor: set one up in your account' },
      ])
      await setUpApp(owner, now)
      expect((await patch(member, { requireTwoFactor: true }, workspaceId)).status).toBe(403)
      const on = await patch(owner, { requireTwoFactor: true })
      expect([on.status, on.json.data.requireTwoFactor]).toEqual([200, true])

      const refused = await member.api('/links', {}, workspaceId)
      expect([refused.status, refused.json]).toEqual([
        403,
        {
          error:
            'This workspace requires two-factor sign-in: set up an authenticator app or a passkey in your account settings',
          code: 'second_factor_required',
        },
      ])
      // The list of workspaces still answers: it leads the dashboard to the set-up.
      const list = (await member.api('/workspaces')).json.data
      expect(list.map((each: { requireTwoFactor: boolean }) => each.requireTwoFactor)).toContain(true)
      expect(await open(owner, workspaceId)).toBe(200)
      await setUpApp(member, now)
      expect(await open(member, workspaceId)).toBe(200)

      // Removing the factor ends the access.
      await member.postAuth('/second-factor/app/remove')
      expect(await open(member, workspaceId)).toBe(403)
      expect((await patch(owner, { requireTwoFactor: false })).status).toBe(200)
      expect(await open(member, workspaceId)).toBe(200)
    })

    test('does not concern API keys', async () => {
      const owner = await createPerson(server())
      await setUpApp(owner, now)
      await patch(owner, { requireTwoFactor: true })
      const { key } = (await owner.post('/keys', { name: 'ci' })).json.data
      const headers = { Authorization: `Bearer ${key}` }
      expect((await server().call('/v1/links', { headers })).status).toBe(200)
    })
  },
  { now },
)
