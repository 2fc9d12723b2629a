// A person's own sessions: which there are, and ending them.

import { z } from 'zod'
import { notFound } from '../../lib/failure.ts'
import { bodyOf, type Ctx, forgetCookie, type Routes, type SignInNeeds, signedIn } from './auth-request.ts'
import { endSessions, findSession, listSessions, type Session, sessionCookie, tokenIn } from './session.ts'

const WhichSession = z.strictObject({ id: z.int({ error: 'must be the id of a session' }) })

export function addSessions(app: Routes, needs: SignInNeeds) {
  const cookie = sessionCookie(needs.origin)
  const tokenOf = (c: Ctx) => tokenIn(c.req.header('cookie'), cookie)

  app.get('/get-session', async (c) => {
    const token = tokenOf(c)
    const session = token === undefined ? undefined : await findSession(needs, token)
    if (!session && token !== undefined) forgetCookie(c, needs.origin)
    return c.json(session ? shownSession(session) : null)
  })
  app.get('/list-sessions', async (c) => c.json(await listSessions(needs, await signedIn(needs, c))))

  app.post('/sign-out', async (c) => {
    const session = await findSession(needs, tokenOf(c) ?? '')
    if (session) await endSessions(needs, session.user.userId, { id: session.id })
    forgetCookie(c, needs.origin)
    return c.json({ status: true })
  })
  app.post('/revoke-session', async (c) => {
    const own = await signedIn(needs, c)
    const { id } = await bodyOf(c, WhichSession)
    if ((await endSessions(needs, own.user.userId, { id })) === 0) throw notFound('Session')
    if (id === own.id) forgetCookie(c, needs.origin)
    return c.json({ status: true })
  })
  app.post('/revoke-sessions', async (c) => {
    await endSessions(needs, (await signedIn(needs, c)).user.userId)
    forgetCookie(c, needs.origin)
    return c.json({ status: true })
  })
  app.post('/revoke-other-sessions', async (c) => {
    const own = await signedIn(needs, c)
    await endSessions(needs, own.user.userId, { exceptId: own.id })
    return c.json({ status: true })
  })
}

const shownSession = ({
  id,
  createdAt,
  expiresAt,
  user: { userId, createdAt: since, ...user },
}: Session) => ({
  session: { id, createdAt: new Date(createdAt).toISOString(), expiresAt: new Date(expiresAt).toISOString() },
  user: { id: userId, ...user, createdAt: new Date(since).toISOString() },
})
