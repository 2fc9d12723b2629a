// Public answers of a domain besides links: the files under /.well-known/ that apps look for, and whether it may have a
// certificate.

import { html } from 'hono/html'
import { hasForwardingHeader } from '../../../http/direct-request.ts'
import { renderHtmlPage, wantsJson } from '../../../http/html-page.ts'
import { pathOf } from '../../../http/request-path.ts'
import type { ServerHandle } from '../../../http/server-handle.ts'
import { isInNetworks, type Network } from '../../../lib/ip-network.ts'
import { isLoopback } from '../../../lib/parse-ip.ts'
import type { Database } from '../../../storage/database/database.ts'
import { readPageBrand } from '../../accounts/brand/brand.ts'
import type { DomainDirectory, ShortDomain } from '../names/domain-directory.ts'

export interface DomainRouteNeeds {
  domains: Pick<DomainDirectory, 'get'>
  /** The site, for the names of the default domain. */
  site: { names: ReadonlySet<string> }
  trustProxy: Network[]
}

export function createDomainRoutes({ domains, site, trustProxy }: DomainRouteNeeds) {
  return {
    /** `GET /.well-known/{file}`. @returns null for a file that the domain's workspace has not set */
    answerWellKnown(request: Request, { assetLinks, appleAppSiteAssociation }: ShortDomain) {
      const path = pathOf(request.url)
      if (path === '/.well-known/assetlinks.json') return sendJson(request, assetLinks)
      if (path === '/.well-known/apple-app-site-association')
        return sendJson(request, appleAppSiteAssociation)
      return null
    },

    /**
     * `GET /tls/ask?domain=`: 200 where the name may have a certificate, 403 where not (Caddy's `on_demand_tls`).
     * @returns null unless the web server in front asks: for others the path does not exist
     */
    answerTlsAsk(request: Request, server: Pick<ServerHandle, 'requestIP'>) {
      const peer = server.requestIP(request)?.address ?? ''
      const isOwnProxy = isLoopback(peer) || isInNetworks(peer, trustProxy)
      // A stranger's request comes through the same web server, which says so.
      if (request.method !== 'GET' || !isOwnProxy || hasForwardingHeader(request.headers)) return null
      const name = readQueryDomain(request.url)
      const isKnown = name !== '' && (site.names.has(name) || domains.get(name) !== undefined)
      const headers = { 'Cache-Control': 'no-store' }
      return new Response(isKnown ? 'yes\n' : 'no\n', { status: isKnown ? 200 : 403, headers })
    },
  }
}

/** Reads the query without a URL parser, which would fail on a broken Host header. */
const readQueryDomain = (url: string) =>
  (new URLSearchParams(/\?(.*)/.exec(url)?.[1] ?? '').get('domain') ?? '').toLowerCase()

/** @param text JSON; null if the workspace has set none */
function sendJson(request: Request, text: string | null): Response | null {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (text === null || !isRead) return null
  return new Response(text, { headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' } })
}

/** Answers a path of a workspace's domain without a link. */
export async function answerUnknownPath(
  { headers }: Request,
  { db, domain }: UnknownPathNeeds,
): Promise<Response> {
  if (wantsJson(headers.get('accept'))) return Response.json({ error: 'Not found' }, { status: 404 })
  const brand = await readPageBrand(db.read, domain.workspaceId)
  const content = html`<h1>Not found</h1><p>There is nothing at this address.</p>`
  return renderHtmlPage(404, 'Not found', content, {}, { brand })
}

interface UnknownPathNeeds {
  db: Pick<Database, 'read'>
  domain: Pick<ShortDomain, 'workspaceId'>
}
