// Decides by the host of a request what answers (docs/adr/0042-hosts.md): the default domain has everything, a
// workspace's domain only its allowed paths, and an unverified name nothing.

import { html } from 'hono/html'
import { renderHtmlPage, wantsJson } from '../../../http/html-page.ts'
import { isHost, readRequestHost } from '../../../http/request-host.ts'
import type { ServerHandle } from '../../../http/server-handle.ts'
import type { Network } from '../../../lib/ip-network.ts'
import { describeRequest } from '../../../lib/telemetry/request-context.ts'
import type { DomainDirectory, ShortDomain } from '../names/domain-directory.ts'

/** Where a mounted path answers. On a domain of a workspace, the other paths are free for links. */
export type Hosts = 'default domain' | 'every domain'

export type DomainAnswer = (
  request: Bun.BunRequest,
  server: ServerHandle,
  domain: ShortDomain,
) => Response | Promise<Response>

export interface HostGateNeeds {
  domains: Pick<DomainDirectory, 'find'>
  trustProxy: Network[]
}

/** @returns a function that finds the domain of a request by its headers and its peer's address */
export const createDomainFinder =
  ({ domains, trustProxy }: HostGateNeeds) =>
  (headers: { get(name: string): string | null }, peer: string) =>
    domains.find(readRequestHost(headers, () => peer, trustProxy))

/** @param answerLink looks the path up as a link of the domain */
export const createHostGate =
  ({ domains, trustProxy }: HostGateNeeds, answerLink: DomainAnswer) =>
  (hosts: Hosts, answer: DomainAnswer) =>
  (request: Bun.BunRequest, server: ServerHandle): Response | Promise<Response> => {
    const getPeer = () => server.requestIP(request)?.address ?? ''
    const host = readRequestHost(request.headers, getPeer, trustProxy)
    const domain = domains.find(host)
    if (!domain) return refuseHost(request, host)
    if (hosts === 'default domain' && domain.workspaceId !== null) return answerLink(request, server, domain)
    return answer(request, server, domain)
  }

const HEADERS = { 'Cache-Control': 'private, no-store', 'X-Robots-Tag': 'noindex' }

/** Nothing is counted, and no cookie is read or set. */
function refuseHost({ headers }: Request, host: string): Response | Promise<Response> {
  describeRequest({ route: 'other' })
  const [status, title] = isHost(host) ? [404, 'Unknown domain'] : [400, 'Malformed host']
  if (wantsJson(headers.get('accept'))) return Response.json({ error: title }, { status, headers: HEADERS })
  return renderHtmlPage(
    status,
    title,
    html`<h1>${title}</h1>
<p>No short links are at this address.</p>
<p>If it is yours: add it as a domain to your workspace. If this server is yours: name it in <code>TOWPATH_URL</code> or
<code>TOWPATH_ALIASES</code>.</p>`,
  )
}
