// Requests to the sites of destinations: at most one a second to a host, what robots.txt allows, and never to a private
// address. The rules of robots.txt and the name servers of a domain are kept for a day.

import {
  type SafeRefusal,
  type SafeRequest,
  type SafeResponse,
  safeRequest,
} from '../../http/safe-request.ts'
import { DAY_MS } from '../../lib/utc-day.ts'
import { parseUrl } from '../../lib/web-url.ts'
import type { OpenDnsClient } from '../links/domains/dns-client.ts'
import { findParkedSign, findParkingService, findRegistrableDomain } from './parked-domains.ts'
import { ALLOW_ALL, parseRobots, type RobotsRules } from './robots-rules.ts'

/** Monotonic milliseconds, and a wait. Tests use their own clock. */
export interface PoliteClock {
  read(): number
  sleep(ms: number): Promise<void>
}

export interface PoliteClientNeeds extends Pick<SafeRequest, 'allow' | 'resolve'> {
  /** The public origin of this server: sites can see who asks. */
  origin: string
  openDnsClient: OpenDnsClient
  hostClock?: PoliteClock
}

/** `unreachable`: the site's robots.txt answers with an error. Its rules are not known. */
export type RobotsAnswer = { rules: RobotsRules } | { unreachable: number } | { failed: SafeRefusal }

export interface PoliteClient {
  request(method: 'HEAD' | 'GET', url: URL): Promise<SafeResponse | SafeRefusal>
  readRobots(url: URL): Promise<RobotsAnswer>
  findParking(host: string): Promise<string | undefined>
  /** How a site says in its page that its domain is parked. It is read once a day for each host. */
  findParkedPage(url: URL, answer: SafeResponse): Promise<string | undefined>
  readClock(): number
}

/** Sites name it in robots.txt. */
export const ROBOTS_AGENT = 'towpath'

const HOST_EVERY_MS = 1_000
const TIMEOUT_MS = 10_000
/** Only the status and the headers are of interest. */
const PAGE_BYTES_MAX = 16 * 1024
/** RFC 9309 §2.5. */
const ROBOTS_BYTES_MAX = 500 * 1024
/** RFC 9309 §2.3.1.2. */
const ROBOTS_REDIRECTS_MAX = 5
const KEPT_MAX = 5_000

const SYSTEM_CLOCK: PoliteClock = { read: () => performance.now(), sleep: (ms) => Bun.sleep(ms) }

/** @returns a function that takes the next free second of a host */
function createHostTurns(clock: PoliteClock): (host: string) => Promise<void> {
  const nextAt = new Map<string, number>()
  return async (host) => {
    const now = clock.read()
    const at = Math.max(now, nextAt.get(host) ?? 0)
    if (nextAt.size >= KEPT_MAX) for (const [name, free] of nextAt) if (free <= now) nextAt.delete(name)
    nextAt.set(host, at + HOST_EVERY_MS)
    if (at > now) await clock.sleep(at - now)
  }
}

export function createPoliteClient(needs: PoliteClientNeeds): PoliteClient {
  const { hostClock: clock = SYSTEM_CLOCK } = needs
  const waitForHost = createHostTurns(clock)
  const robots = createDayCache<RobotsRules>(clock)
  const parking = createDayCache<string | undefined>(clock)
  const parkedPages = createDayCache<string | undefined>(clock)

  async function send(method: 'HEAD' | 'GET', url: URL, maxBytes: number) {
    await waitForHost(url.hostname)
    const headers = { Accept: '*/*', 'User-Agent': `Mozilla/5.0 (compatible; Towpath; +${needs.origin})` }
    const { allow, resolve } = needs
    return safeRequest({ method, url: url.href, headers, timeoutMs: TIMEOUT_MS, maxBytes, allow, resolve })
  }

  async function fetchRobots(origin: URL): Promise<RobotsAnswer> {
    let url = new URL('/robots.txt', origin)
    for (let redirects = 0; ; redirects++) {
      const answer = await send('GET', url, ROBOTS_BYTES_MAX)
      if (!answer.ok) return redirects === 0 ? { failed: answer } : { rules: ALLOW_ALL }
      const { status } = answer
      if (status >= 500) return { unreachable: status }
      if (status >= 200 && status < 300) {
        const text = new TextDecoder().decode(answer.body)
        return { rules: parseRobots(text, ROBOTS_AGENT) }
      }
      const next = status < 400 ? parseUrl(answer.headers.get('location') ?? '', url.href) : null
      // A missing file forbids nothing.
      if (!next || redirects === ROBOTS_REDIRECTS_MAX) return { rules: ALLOW_ALL }
      url = next
    }
  }

  return {
    readClock: clock.read,
    request: (method, url) => send(method, url, PAGE_BYTES_MAX),
    async readRobots(url) {
      const known = robots.get(url.origin)
      if (known) return { rules: known.value }
      const answer = await fetchRobots(url)
      if ('rules' in answer) robots.set(url.origin, answer.rules)
      return answer
    },
    async findParkedPage(url, answer) {
      const known = parkedPages.get(url.hostname)
      if (known) return known.value
      if (!isPage(answer)) return undefined
      const page = answer.body.length > 0 ? answer : await send('GET', url, PAGE_BYTES_MAX)
      if (!page.ok) return undefined
      const sign = findParkedSign(page, url.hostname)
      parkedPages.set(url.hostname, sign)
      return sign
    },
    async findParking(host) {
      const domain = findRegistrableDomain(host)
      if (domain === null) return undefined
      const known = parking.get(domain)
      if (known) return known.value
      const nameServers = await listNameServers(needs, domain)
      const service = nameServers && findParkingService(nameServers)
      if (nameServers) parking.set(domain, service)
      return service
    },
  }
}

const isPage = ({ status, headers }: SafeResponse) =>
  status < 400 && headers.get('content-type')?.startsWith('text/html') === true

/** @returns undefined where DNS does not tell now */
async function listNameServers(
  { openDnsClient }: Pick<PoliteClientNeeds, 'openDnsClient'>,
  domain: string,
): Promise<string[] | undefined> {
  const dns = openDnsClient()
  try {
    const answer = await dns.listNameServers(domain)
    return 'values' in answer ? answer.values : undefined
  } finally {
    dns.close()
  }
}

function createDayCache<T>(clock: PoliteClock) {
  const kept = new Map<string, { value: T; until: number }>()
  return {
    get(key: string): { value: T } | undefined {
      const found = kept.get(key)
      return found && found.until > clock.read() ? found : undefined
    },
    set(key: string, value: T) {
      kept.delete(key)
      const [oldest] = kept.keys()
      if (kept.size >= KEPT_MAX && oldest !== undefined) kept.delete(oldest)
      kept.set(key, { value, until: clock.read() + DAY_MS })
    },
  }
}
