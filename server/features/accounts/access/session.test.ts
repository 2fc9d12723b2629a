import { beforeAll, expect, test } from 'bun:test'
import { until } from '../../../../tests/support/until.ts'
import { type SignedUpUser, toCookieHeader, toSignedUpUser } from '../../../../tests/support/users/sign-up.ts'
import { onBothEngines, type TestServer } from '../../../../tests/support/world.ts'
import { pruneSessions } from '../auth/sessions.ts'
import { createPerson } from '../people.fixture.ts'

const DAY = 24 * 60 * 60 * 1000
const MINUTE = 60_000
let at = Date.UTC(2026, 4, 1)
const now = () => at

async function again(server: TestServer, person: SignedUpUser, userAgent?: string): Promise<SignedUpUser> {
  const { email, password } = person
  const answer = await server.post(
    '/api/auth/sign-in/email',
    { email, password },
    userAgent === undefined ? {} : { 'User-Agent': userAgent },
  )
  expect(answer.status).toBe(200)
  return toSignedUpUser(server, toCookieHeader(answer), person)
}

const isIn = async (person: SignedUpUser) => {
  const { status, json } = await person.api('/links')
  if (status !== 200) expect([status, json]).toEqual([401, { error: 'Sign in to continue' }])
  return status === 200
}

onBothEngines(
  'sessions',
  (server) => {
    let ada: SignedUpUser
    let bob: SignedUpUser
    beforeAll(async () => {
      ada = await createPerson(server())
      bob = await createPerson(server())
    })

    test('are listed for their own person only, with browser and times', async () => {
      const phone = await again(
        server(),
        ada,
        `Mozilla/5.0 (Linux; Android 14) Firefox/140 ${'x'.repeat(1000)}`,
      )
      const { json } = await phone.auth('/list-sessions')
      expect(json).toHaveLength(2)
      const [newest, older] = json
      expect(newest).toMatchObject({ current: true, browser: 'Firefox on Android' })
      expect(older.current).toBe(false)
      expect(Date.parse(newest.expiresAt) - Date.parse(newest.createdAt)).toBe(14 * DAY)
      const kept = await server().rows('sessions')
      expect(Math.max(...kept.map(({ user_agent }) => user_agent?.length ?? 0))).toBe(256)
      expect(Object.keys(newest).sort()).toEqual(
        'browser createdAt current expiresAt id lastUsedAt'.split(' '),
      )
      expect((await bob.auth('/list-sessions')).json).toHaveLength(1)
      expect((await server().call('/api/auth/list-sessions')).status).toBe(401)
    })

    test('end one by one, but not another person’s', async () => {
      const other = await again(server(), ada)
      const own = (await other.auth('/list-sessions')).json.find((each: { current: boolean }) => each.current)
      const stolen = await bob.postAuth('/revoke-session', { id: own.id })
      expect([stolen.status, stolen.json]).toEqual([404, { error: 'Session not found' }])
      expect(await isIn(other)).toBe(true)
      expect((await ada.postAuth('/revoke-session', { id: own.id })).status).toBe(200)
      expect([await isIn(other), await isIn(ada)]).toEqual([false, true])
    })

    test('end by sign-out: the cookie is cleared and gives no access', async () => {
      const other = await again(server(), ada)
      const answer = await other.postAuth('/sign-out')
      expect([answer.status, answer.json]).toEqual([200, { status: true }])
      expect(answer.headers.getSetCookie()).toEqual([
        'towpath_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
      ])
      expect([await isIn(other), await isIn(ada)]).toEqual([false, true])
      // A second sign-out, and one without a session, are no error.
      expect((await other.postAuth('/sign-out')).status).toBe(200)
      expect((await server().post('/api/auth/sign-out')).status).toBe(200)
    })

    test('end on all other devices, or on all devices', async () => {
      const [one, two] = [await again(server(), ada), await again(server(), ada)]
      expect((await two.postAuth('/revoke-other-sessions')).status).toBe(200)
      expect([await isIn(one), await isIn(ada), await isIn(two)]).toEqual([false, false, true])
      const three = await again(server(), ada)
      const all = await two.postAuth('/revoke-sessions', {})
      expect(all.headers.getSetCookie()).toHaveLength(1)
      expect([await isIn(two), await isIn(three), await isIn(bob)]).toEqual([false, false, true])
      ada = await again(server(), ada)
    })

    test('end two weeks after the last use', async () => {
      const used = await again(server(), ada)
      const idle = await again(server(), ada)
      const endOf = async (person: SignedUpUser) => (await person.auth('/get-session')).json.session.expiresAt
      const before = await endOf(used)
      at += 13 * DAY
      expect(await isIn(used)).toBe(true)
      await until('the end has moved', async () => (await endOf(used)) !== before)
      at += DAY + MINUTE
      expect([await isIn(used), await isIn(idle)]).toEqual([true, false])
      ada = used
    })

    test('end 60 days after sign-in, whatever their use', async () => {
      const long = await again(server(), ada)
      const { createdAt } = (await long.auth('/get-session')).json.session
      for (let day = 10; day < 60; day += 10) {
        at += 10 * DAY
        expect(await isIn(long)).toBe(true)
        const moved = Math.min(now() + 14 * DAY, Date.parse(createdAt) + 60 * DAY) - MINUTE
        await until('the end has moved', async () => {
          const { session } = (await long.auth('/get-session')).json
          return Date.parse(session.expiresAt) >= moved
        })
      }
      at += 10 * DAY
      expect(await isIn(long)).toBe(false)
      expect((await long.auth('/get-session')).text).toBe('null')
    })

    test('that have ended are pruned', async () => {
      const fresh = await again(server(), ada)
      const { db } = server().app
      await pruneSessions(db, now())
      const kept = await server().rows('sessions')
      expect(kept).toHaveLength(1)
      expect(await isIn(fresh)).toBe(true)
    })
  },
  { now },
)
