// The routes under /api/doctor, for the command beside the server: only a caller with the secret of the installation
// gets an answer, and everybody else gets 404.

import { Hono } from 'hono'
import { toErrorResponse } from '../../http/error-response.ts'
import { requestId } from '../../http/request-id.ts'
import { declareFacts } from '../../http/route-table.ts'
import type { ServerHandle } from '../../http/server-handle.ts'
import { notFound } from '../../lib/failure.ts'
import type { Network } from '../../lib/ip-network.ts'
import type { HitInspection } from '../../storage/hits/hit-engine.ts'
import { toEcho } from './echo.ts'
import type { DoctorFinding } from './finding.ts'
import { isOperatorToken, type TokenPurpose, toAnswerProof } from './operator-token.ts'

export interface DoctorRoutesNeeds {
  secret: string
  trustProxy: Network[]
  now: () => number
  /** Checks that only this process can make. */
  listOwnFindings: () => Promise<DoctorFinding[]>
  /** The marks of the hit store. */
  inspectHits: (withClicks: boolean) => Promise<HitInspection | undefined>
}

interface DoctorEnv {
  Bindings: { peer: string }
}

const facts = () =>
  declareFacts({
    by: 'anybody',
    scopes: [],
    shows: [],
    body: 'none',
    idempotent: false,
    secretInAnswer: false,
    slow: false,
    fresh: false,
  })

export function createDoctorRoutes(needs: DoctorRoutesNeeds) {
  const { secret, trustProxy, now, listOwnFindings, inspectHits } = needs
  const readToken = (headers: Headers, purpose: TokenPurpose): string => {
    const token = /^Bearer (\S{1,100})$/.exec(headers.get('authorization') ?? '')?.[1] ?? ''
    if (!isOperatorToken(secret, purpose, token, now())) throw notFound('')
    return token
  }
  const routes = new Hono<DoctorEnv>().basePath('/api/doctor')
  routes.onError((error, c) => toErrorResponse(error, requestId(c.req.header('x-request-id'))))
  routes.notFound(() => {
    throw notFound('')
  })
  routes.use(async (c, next) => {
    await next()
    c.res.headers.set('Cache-Control', 'no-store')
  })
  routes.get('/echo', facts(), (c) => {
    const { headers } = c.req.raw
    const proof = toAnswerProof(secret, readToken(headers, 'echo'))
    return c.json({ proof, ...toEcho(c.env.peer, headers, trustProxy) })
  })
  routes.get('/findings', facts(), async (c) => {
    const proof = toAnswerProof(secret, readToken(c.req.raw.headers, 'findings'))
    return c.json({ proof, findings: await listOwnFindings() })
  })
  routes.get('/inspection', facts(), async (c) => {
    const proof = toAnswerProof(secret, readToken(c.req.raw.headers, 'findings'))
    return c.json({ proof, inspection: await inspectHits(false) })
  })
  return {
    /** Answers every request below /api/doctor. */
    answer: async (request: Request, server: ServerHandle): Promise<Response> =>
      routes.fetch(request, { peer: server.requestIP(request)?.address ?? '' }),
    routes: routes.routes,
  }
}
