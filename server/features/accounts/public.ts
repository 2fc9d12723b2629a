// The routes under /api/auth: sign-up, sign-in, sign-out and a person's own account. Everyone on the internet can
// call them. Only these routes exist: Better Auth's other endpoints are not reachable.

import { Hono } from 'hono'
import { setPrivateHeaders } from '../../http/answer-headers.ts'
import { toErrorResponse } from '../../http/error-response.ts'
import { jsonBody } from '../../http/json-body.ts'
import { requestId } from '../../http/request-id.ts'
import { noRoute, routeFor, routeTable } from '../../http/route-table.ts'
import type { ServerHandle } from '../../http/server-handle.ts'
import { notFound } from '../../lib/failure.ts'
import { log } from '../../lib/log.ts'
import { toFailure } from '../../storage/database/errors.ts'
import { refuseCrossOrigin } from './access/cross-origin.ts'
import { requireFresh } from './access/fresh-session.ts'
import { type AuthContext, type AuthEnv, requireSession, type SignInNeeds } from './auth/auth-request.ts'
import { AUTH_PATH, createAuth } from './auth/better-auth.ts'
import { addPasswordRoutes } from './auth/password-routes.ts'
import { addSessionRoutes } from './auth/session-routes.ts'
import { addOidcRoutes, addSignInRoutes } from './auth/sign-in-routes.ts'
import { addSignUpRoutes } from './auth/sign-up-routes.ts'
import type { DeleteAccountNeeds } from './own-account/delete-account.ts'
import { addAccountDeletionRoutes, addEmailRoutes } from './own-account/own-account-routes.ts'
import { addPasskeyRoutes, addPasskeySignInRoutes } from './second-factor/passkey-routes.ts'
import { addAuthenticatorAppRoutes, addProofRoutes } from './second-factor/second-factor-routes.ts'

export function createAuthEndpoints(needs: SignInNeeds & DeleteAccountNeeds) {
  const app = new Hono<AuthEnv>().basePath(AUTH_PATH)
  const findRoutes = routeTable(() => app.routes)
  const auth = createAuth(needs)

  app.use(logRequest)
  app.onError((error, c) => toErrorResponse(toFailure(error), c.get('requestId')))
  app.notFound(() => {
    throw notFound('')
  })
  app.use(async (c, next) => {
    const routes = findRoutes(c.req.path)
    const route = routeFor(routes, c.req.method)
    if (!route) throw noRoute(routes)
    c.set('facts', route.facts)
    refuseCrossOrigin(c.req.raw, needs.origin)
    if (route.facts?.fresh) requireFresh((await requireSession(needs, c)).createdAt, needs.now())
    await next()
  })
  app.use(jsonBody((c: AuthContext) => c.get('facts')?.body ?? 'object'))
  addSignUpRoutes(app, needs, auth)
  addSignInRoutes(app, needs, auth)
  addOidcRoutes(app, needs, auth)
  addSessionRoutes(app, needs)
  addPasswordRoutes(app, needs, auth)
  addProofRoutes(app, needs, auth)
  addAuthenticatorAppRoutes(app, needs)
  addEmailRoutes(app, needs)
  addAccountDeletionRoutes(app, needs)
  addPasskeyRoutes(app, needs)
  addPasskeySignInRoutes(app, needs, auth)
  return {
    /** Answers every request below `AUTH_PATH`. */
    answer: async (request: Request, server: ServerHandle): Promise<Response> =>
      app.fetch(request, { peer: server.requestIP(request)?.address ?? '' }),
    routes: app.routes,
  }
}

/** Gives the request an id, and logs it without its query, body and headers. */
async function logRequest(c: AuthContext, next: () => Promise<void>) {
  const start = performance.now()
  c.set('requestId', requestId(c.req.header('x-request-id')))
  await next()
  setPrivateHeaders(c.res.headers, c.get('requestId'))
  const { method, path } = c.req
  const ms = Math.round((performance.now() - start) * 10) / 10
  log.info('request', { requestId: c.get('requestId'), method, path, status: c.res.status, ms })
}
