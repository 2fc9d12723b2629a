// Guesses at one account from many addresses are slowed down, and nobody is locked out by them
// (docs/adr/0021-guessing.md).

import { expect, setDefaultTimeout, test } from 'bun:test'
import { createResetLink } from '../../server/features/accounts/auth/reset-password.ts'
import type { HttpAnswer } from '../support/server/http-call.ts'
import { quick } from '../support/suite.ts'
import { type SignedUpUser, signUpOverHttp } from '../support/users/sign-up.ts'
import { onBothEngines } from '../support/world.ts'

// At most two passwords are hashed at a time, so tests are slow on a busy machine.
setDefaultTimeout(120_000)

const toDeviceCookie = ({ headers }: HttpAnswer) =>
  headers
    .getSetCookie()
    .find((cookie) => /^[\w-]*towpath_device=/.test(cookie))
    ?.split(';', 1)[0] as string

let elapsed = 0

onBothEngines(
  'guessing passwords',
  (server) => {
    let ada: SignedUpUser
    let device: string
    const signIn = (password: string, address: string, cookie?: string, email = ada.email) =>
      server().call('/api/auth/sign-in/email', {
        method: 'POST',
        body: { email, password },
        headers: { 'X-Forwarded-For': address, ...(cookie !== undefined && { Cookie: cookie }) },
      })

    quick('150 tries from 30 addresses get few answers', async () => {
      ada = await signUpOverHttp(server(), { email: 'ada@boats.example' })
      device = toDeviceCookie(await signIn(ada.password, '198.51.100.1'))
      const statuses: number[] = []
      for (let network = 0; network < 30; network++) {
        const tries = Array.from({ length: 5 }, (_, i) =>
          signIn(`guess ${network} ${i}`, `203.0.${network}.1`),
        )
        statuses.push(...(await Promise.all(tries)).map(({ status }) => status))
      }
      expect(statuses.filter((status) => status === 401).length).toBeLessThan(25)
      expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(125)
    })

    quick('an address without an account is slowed down alike', async () => {
      const statuses: number[] = []
      for (let network = 0; network < 30; network++)
        statuses.push((await signIn('guess', `203.0.${network}.2`, undefined, 'no@boats.example')).status)
      expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401))
      expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(10)
    })

    test('a device that the account knows is not slowed down, and guesses no faster itself', async () => {
      expect((await signIn(ada.password, '203.0.0.1', device)).status).toBe(200)
      const statuses: number[] = []
      for (let i = 0; i < 12; i++) statuses.push((await signIn(`guess ${i}`, '198.51.100.9', device)).status)
      expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    })

    test('a device is known to its account only, and cannot be forged', async () => {
      const eve = await server().call('/api/auth/sign-in/email', {
        method: 'POST',
        body: { email: ada.email, password: ada.password },
        headers: { 'X-Forwarded-For': '198.51.100.2', Cookie: `${device.slice(0, -2)}AA` },
      })
      expect(eve.status).toBe(429)
      const renamed = device.replace('towpath_device=', 'towpath_device=x')
      expect((await signIn(ada.password, '198.51.100.3', renamed)).status).toBe(429)
    })

    test('a new device waits a minute at most', async () => {
      const refused = await signIn(ada.password, '198.51.100.4')
      expect(refused.status).toBe(429)
      const seconds = Number(refused.headers.get('retry-after'))
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThanOrEqual(60)
      // Shared limits use the database's clock, which a test cannot shift.
      if (server().engine === 'postgres') return
      elapsed += seconds * 1000
      expect((await signIn(ada.password, '198.51.100.4')).status).toBe(200)
    })

    test('the browser of a reset password is known at once', async () => {
      const { db } = server().app
      const user = await db.read.selectFrom('users').select('id').executeTakeFirstOrThrow()
      const link = await createResetLink({ db, now: server().now, origin: server().origin }, user.id)
      const reset = await server().call('/api/auth/reset-password', {
        method: 'POST',
        body: { token: new URL(link).searchParams.get('token'), newPassword: 'nine grey locks open' },
        headers: { 'X-Forwarded-For': '198.51.100.5' },
      })
      expect(reset.status).toBe(200)
      const signedIn = await signIn('nine grey locks open', '203.0.0.1', toDeviceCookie(reset))
      expect(signedIn.status).toBe(200)
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1' }, clock: () => performance.now() + elapsed },
)
