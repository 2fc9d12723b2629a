// Small public pages and texts at fixed paths: health checks, the API reference, robots.txt, thanks, and "not found"
// for every other path. routes.ts names each path.

import { Hono } from 'hono'
import { html } from 'hono/html'
import { thanksPage } from '../features/forms/endpoint/pages.ts'
import { createApiDocs } from '../http/api-docs/api-docs.ts'
import { toErrorResponse } from '../http/error-response.ts'
import { createHealthAndMetrics, type OperationsNeeds, type PeerEnv } from '../http/health-and-metrics.ts'
import { renderHtmlPage, wantsJson } from '../http/html-page.ts'
import { requestId } from '../http/request-id.ts'
import { notFound } from '../lib/failure.ts'

/**
 * Allows every path: `Disallow` would keep social networks from reading the preview of a short link. Redirects and pages
 * carry `X-Robots-Tag: noindex`, which a crawler sees only where it may read (docs/contract.md §10).
 */
const ROBOTS = 'User-agent: *\nAllow: /\n'

const NOT_FOUND = html`<h1>Not found</h1><p>There is nothing at this address.</p>`

export function createPages(needs: OperationsNeeds, origin: string) {
  // Not strict: `/docs/` is `/docs`, as `/slug/` is `/slug`.
  return new Hono<PeerEnv & { Variables: { requestId: string } }>({ strict: false })
    .use(async (c, next) => {
      c.set('requestId', requestId(c.req.header('x-request-id')))
      await next()
      c.res.headers.set('X-Request-Id', c.get('requestId'))
    })
    .route('/', createHealthAndMetrics(needs))
    .route('/', createApiDocs(origin))
    .get('/', (c) => c.redirect('/app'))
    .get('/thanks', (c) => thanksPage(c.req.raw))
    .get('/robots.txt', (c) => c.text(ROBOTS))
    .notFound((c) => {
      if (wantsJson(c.req.header('accept') ?? null)) return toErrorResponse(notFound(''), c.get('requestId'))
      return renderHtmlPage(404, 'Not found', NOT_FOUND)
    })
    .onError((error, c) => toErrorResponse(error, c.get('requestId')))
}
