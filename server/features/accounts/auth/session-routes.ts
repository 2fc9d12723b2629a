// Routes for a person's own sessions: list them, end them, sign out.

import { z } from 'zod'
import { notFound } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { hasSecondFactor } from '../access/second-factors.ts'
import { findSession, readSessionToken, type Session, toSessionCookieName } from '../access/session.ts'
import {
  type AuthContext,
  type AuthRoutes,
  authFacts,
  clearSessionCookie,
  parseBody,
  requireSession,
  type SignInNeeds,
} from './auth-request.ts'
import { endSessions, listSessions } from './sessions.ts'

const SessionSelection = z.strictObject({ id: z.int({ error: 'must be the id of a session' }) })

export function addSessionRoutes(app: AuthRoutes, needs: SignInNeeds) {
  const cookie = toSessionCookieName(needs.origin)
  const readToken = (c: AuthContext) => readSessionToken(c.req.header('cookie'), cookie)

  app.get('/get-session', authFacts('anybody'), async (c) => {
    const token = readToken(c)
    const session = token === undefined ? undefined : await findSession(needs, token)
    if (!session && token !== undefined) clearSessionCookie(c, needs.origin)
    if (!session) return c.json(null)
    const secondFactor = await hasSecondFactor(needs.db.read, session.user.userId)
    return c.json(toSessionResource(session, secondFactor))
  })
  app.get('/list-sessions', authFacts('person'), async (c) =>
    c.json(await listSessions(needs, await requireSession(needs, c))),
  )

  app.post('/sign-out', authFacts('anybody', 'none'), async (c) => {
    const session = await findSession(needs, readToken(c) ?? '')
    if (session) await endSessions(needs, session.user.userId, { id: session.id })
    clearSessionCookie(c, needs.origin)
    return c.json({ status: true })
  })
  app.post('/revoke-session', authFacts('person'), async (c) => {
    const own = await requireSession(needs, c)
    const { id } = await parseBody(c, SessionSelection)
    if ((await endSessions(needs, own.user.userId, { id }, 'session_ended')) === 0) throw notFound('Session')
    if (id === own.id) clearSessionCookie(c, needs.origin)
    return c.json({ status: true })
  })
  app.post('/revoke-sessions', authFacts('person', 'none'), async (c) => {
    await endSessions(needs, (await requireSession(needs, c)).user.userId, {}, 'sign_out_everywhere')
    clearSessionCookie(c, needs.origin)
    return c.json({ status: true })
  })
  app.post('/revoke-other-sessions', authFacts('person', 'none'), async (c) => {
    const own = await requireSession(needs, c)
    await endSessions(needs, own.user.userId, { exceptId: own.id }, 'sign_out_everywhere')
    return c.json({ status: true })
  })
}

const toSessionResource = (
  { id, createdAt, expiresAt, user: { userId, createdAt: userCreatedAt, ...user } }: Session,
  secondFactor: boolean,
) => ({
  session: { id, createdAt: toIso(createdAt), expiresAt: toIso(expiresAt) },
  user: { id: userId, ...user, secondFactor, createdAt: toIso(userCreatedAt) },
})
