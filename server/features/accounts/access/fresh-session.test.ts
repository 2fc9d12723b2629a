// A person confirms that it is them before requests that could lose them the account or the workspace.

import { expect, test } from 'bun:test'
import { type SignedUpUser, toCookieHeader, toSignedUpUser } from '../../../../tests/support/users/sign-up.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { listRoutes } from '../../../http/route-table.ts'
import { createPerson } from '../people.fixture.ts'
import { setUpApp, showCode } from '../second-factor/second-factor.fixture.ts'

const MINUTE = 60_000
const CONFIRM = { error: 'Confirm that it is you to continue', code: 'confirmation_required' }
let at = Date.UTC(2026, 4, 1)
const now = () => at

onBothEngines(
  'a session older than 15 minutes',
  (server) => {
    const post = (who: SignedUpUser, path: string, body?: object) => who.postAuth(path, body)
    const createKey = async (who: SignedUpUser) => (await who.post('/keys', { name: 'ci' })).status
    /** @returns the person with the session of the confirmation */
    const confirm = async (who: SignedUpUser, proof: object) => {
      const answer = await post(who, '/confirm', proof)
      expect([answer.status, answer.json]).toEqual([200, { status: true }])
      return toSignedUpUser(server(), toCookieHeader(answer), who)
    }

    test('is refused on every route that declares it, with a code for programs, and nowhere else', async () => {
      const ada = await createPerson(server())
      at += 15 * MINUTE + 1000
      const { rest, signIn } = server().app.routes
      const routes = listRoutes([...rest, ...signIn]).filter(({ method }) => method !== 'GET')
      const fresh: string[] = []
      for (const { method, path, facts } of routes) {
        if (facts?.by !== 'member' && facts?.by !== 'person') continue
        // The session ends by these.
        if (/sign-out|revoke-sessions$/.test(path)) continue
        const url = path.replace(/:\w+/g, '123456')
        const { status, json } = await server().call(url, {
          method,
          headers: { Cookie: ada.cookie, 'X-Workspace': String(ada.workspaceId) },
          ...(/^P/.test(method) && { body: {} }),
        })
        expect([url, status, json.code === CONFIRM.code]).toEqual([
          url,
          facts.fresh ? 403 : status,
          facts.fresh,
        ])
        if (facts.fresh) fresh.push(`${method} ${path.replace(/^\/(api\/auth|v1)/, '')}`)
      }
      expect(fresh.sort()).toEqual([
        'DELETE /members/:userId',
        'DELETE /workspace',
        'PATCH /members/:userId',
        'POST /change-email',
        'POST /change-password',
        'POST /delete-account',
        'POST /invitations',
        'POST /keys',
        'POST /passkeys/register',
        'POST /passkeys/register-options',
        'POST /passkeys/remove',
        'POST /second-factor/app',
        'POST /second-factor/app/confirm',
        'POST /second-factor/app/remove',
        'POST /second-factor/recovery-codes',
      ])
      const policy = { method: 'PATCH', body: { requireTwoFactor: false } }
      expect((await ada.api('/workspace', policy)).json).toEqual(CONFIRM)
      expect((await ada.patch('/workspace', { name: 'Boats' })).status).toBe(200)
    })

    test('becomes fresh by the password: a new session replaces it', async () => {
      const ada = await createPerson(server())
      at += 14 * MINUTE
      expect(await createKey(ada)).toBe(201)
      at += 2 * MINUTE
      expect(await createKey(ada)).toBe(403)
      const wrong = await post(ada, '/confirm', { password: 'not the password' })
      expect([wrong.status, wrong.json.errors]).toEqual([422, { password: 'is not your password' }])
      const fresh = await confirm(ada, { password: ada.password })
      expect(fresh.cookie).not.toBe(ada.cookie)
      expect(await createKey(fresh)).toBe(201)
      // Requests that are on their way still have the old session. It is not fresh, is in no list, and soon ends.
      expect([(await ada.api('/links')).status, await createKey(ada)]).toEqual([200, 403])
      expect((await fresh.auth('/list-sessions')).json).toHaveLength(1)
      at += 31_000
      expect([(await ada.api('/links')).status, (await fresh.api('/links')).status]).toEqual([401, 200])
    })

    test('becomes fresh only by the second factor where there is one', async () => {
      const ada = await createPerson(server())
      const app = await setUpApp(ada, now)
      at += 16 * MINUTE
      const byPassword = await post(ada, '/confirm', { password: ada.password })
      expect([byPassword.status, byPassword.json.errors]).toEqual([
        422,
        { password: 'is not enough: use your second factor' },
      ])
      const code = showCode(app.secret, now())
      const fresh = await confirm(ada, { code })
      expect(await createKey(fresh)).toBe(201)
      expect((await post(fresh, '/confirm', { code })).status).toBe(422)
      at += 16 * MINUTE
      const [recoveryCode = ''] = app.recoveryCodes
      expect(await createKey(await confirm(fresh, { recoveryCode }))).toBe(201)
      for (const proof of [{}, { code: '1', password: 'x' }]) {
        expect((await post(fresh, '/confirm', proof)).status).toBe(422)
      }
    })

    test('cannot be used to guess the password', async () => {
      const ada = await createPerson(server())
      const guess = (n: number) => post(ada, '/confirm', { password: `guess ${n}` })
      const answers = await Promise.all(Array.from({ length: 7 }, (_, n) => guess(n)))
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(422), 429, 429])
      expect((await post(ada, '/confirm', { password: ada.password })).status).toBe(429)
    })

    test('does not concern API keys', async () => {
      const { api } = await server().createWorkspace()
      at += 60 * MINUTE
      expect((await api('/links')).status).toBe(200)
    })
  },
  { now, clock: now },
)
