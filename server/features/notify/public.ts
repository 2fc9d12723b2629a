// The routes under /api/mail: recipients of email channels confirm and stop their mails by the links that they got.
// Anybody on the internet can call them. A GET changes nothing, because mail scanners follow links.

import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { setPrivateHeaders } from '../../http/answer-headers.ts'
import { readClientAddress, toRateLimitKey } from '../../http/client-address.ts'
import { toErrorResponse } from '../../http/error-response.ts'
import { jsonBody } from '../../http/json-body.ts'
import { requestId } from '../../http/request-id.ts'
import type { RouteFacts } from '../../http/route-facts.ts'
import { declareFacts, noRoute, routeFor, routeTable } from '../../http/route-table.ts'
import type { ServerHandle } from '../../http/server-handle.ts'
import { fieldErrors } from '../../http/validation.ts'
import { text } from '../../lib/api-fields.ts'
import { EMAIL_MAX } from '../../lib/email.ts'
import { invalid, notFound } from '../../lib/failure.ts'
import type { Network } from '../../lib/ip-network.ts'
import { toFailure } from '../../storage/database/errors.ts'
import { refuseCrossOrigin } from '../accounts/access/cross-origin.ts'
import { tooMany } from '../accounts/access/guard.ts'
import type { RateLimiter } from '../accounts/access/rate-limiter.ts'
import {
  describeRecipientLink,
  type RecipientChoiceNeeds,
  setRecipientState,
} from './recipients/recipient-choice.ts'

export interface MailRoutesNeeds extends RecipientChoiceNeeds {
  limiter: RateLimiter
  trustProxy: Network[]
  origin: string
}

interface MailEnv {
  Bindings: { peer: string }
  Variables: { requestId: string; facts?: RouteFacts }
}
type MailContext = Context<MailEnv>

const TOKEN_MAX = 8_000
const Choice = z.strictObject({ token: text(1, TOKEN_MAX), email: text(1, EMAIL_MAX).optional() })
/** Far more than a person needs. A link cannot be guessed, so this only saves work. */
const PER_MINUTE = 30

const facts = () =>
  declareFacts({
    by: 'anybody',
    scopes: [],
    shows: [],
    body: 'object',
    idempotent: false,
    secretInAnswer: false,
    slow: false,
    fresh: false,
  })

export function createMailRoutes(needs: MailRoutesNeeds) {
  const routes = new Hono<MailEnv>().basePath('/api/mail')
  const findRoutes = routeTable(() => routes.routes)
  routes.use(async (c, next) => {
    c.set('requestId', requestId(c.req.header('x-request-id')))
    await next()
    setPrivateHeaders(c.res.headers, c.get('requestId'))
  })
  routes.onError((error, c) => toErrorResponse(toFailure(error), c.get('requestId')))
  routes.notFound(() => {
    throw notFound('')
  })
  routes.use(async (c, next) => {
    const found = findRoutes(c.req.path)
    if (!routeFor(found, c.req.method)) throw noRoute(found)
    refuseCrossOrigin(c.req.raw, needs.origin)
    await limit(needs, c)
    await next()
  })
  // A mail program sends this by itself, as a form: the address has all that is needed (RFC 8058 §3.2).
  routes.post('/unsubscribe', facts(), async (c) => {
    await setRecipientState(needs, readToken(c), 'stopped')
    return c.json({ status: true })
  })
  routes.get('/recipient', facts(), async (c) => c.json(await describeRecipientLink(needs, readToken(c))))
  routes.use(jsonBody(() => 'object'))
  routes.post('/confirm', facts(), async (c) => {
    const { token, email } = await parseChoice(c)
    await setRecipientState(needs, token, 'confirmed', email)
    return c.json({ status: true })
  })
  routes.post('/stop', facts(), async (c) => {
    const { token, email } = await parseChoice(c)
    await setRecipientState(needs, token, 'stopped', email)
    return c.json({ status: true })
  })
  return {
    /** Answers every request below /api/mail. */
    answer: async (request: Request, server: ServerHandle): Promise<Response> =>
      routes.fetch(request, { peer: server.requestIP(request)?.address ?? '' }),
    routes: routes.routes,
  }
}

const readToken = (c: MailContext) => (c.req.query('token') ?? '').slice(0, TOKEN_MAX)

/** @throws Failure `invalid` */
async function parseChoice(c: MailContext): Promise<z.infer<typeof Choice>> {
  const { data, error } = Choice.safeParse(JSON.parse(await c.req.text()))
  if (error) throw invalid(fieldErrors(error.issues, 'field'))
  return data
}

async function limit({ limiter, trustProxy }: MailRoutesNeeds, c: MailContext) {
  const address = readClientAddress(c.env.peer, c.req.header('x-forwarded-for') ?? null, trustProxy)
  const result = await limiter.take(`mail links from ${toRateLimitKey(address)}`, PER_MINUTE)
  if (!result.allowed) throw tooMany(result)
}
