// The endpoints for operators and their tools: /livez, /readyz, /version and /metrics.

import { createHash, timingSafeEqual } from 'node:crypto'
import { Hono, type MiddlewareHandler } from 'hono'
import { withTimeout } from '../lib/concurrency/with-timeout.ts'
import { isInNetworks, type Network } from '../lib/ip-network.ts'
import { describeError, log } from '../lib/log.ts'
import { readClientAddress } from './client-address.ts'
import { isDirectRequest } from './direct-request.ts'

export interface OperationsNeeds {
  /** Clients that may read /version and /metrics. All others get 404. */
  access: OperatorAccess
  /** Resolves when the database takes writes. */
  probe: () => Promise<void>
  draining: () => boolean
  version: string
  /** Whether hits of redirects can be recorded. */
  acceptsHits: () => boolean
  /** The values at this moment: of this process, and of those that share its machine and ports. */
  metrics: () => Promise<Metric[]>
}

/**
 * One sample in Prometheus's terms. A label has few known values, such as the types of channels, and never a tenant's
 * id, because each value creates a time series.
 */
export interface Metric {
  /** In base units (seconds, bytes); `_total` at the end of a counter. */
  name: string
  kind: 'gauge' | 'counter' | 'histogram'
  /** A histogram has samples of three names. */
  suffix?: '_bucket' | '_sum' | '_count'
  help: string
  labels?: Record<string, string>
  value: number
}

export interface PeerEnv {
  /** Absent when the request did not come through a socket. */
  Bindings: { peer?: string }
}

const PROBE_MS = 1_000

export function createHealthAndMetrics(needs: OperationsNeeds) {
  const { access, draining, version, metrics } = needs
  const operatorsOnly: MiddlewareHandler<PeerEnv> = async (c, next) => {
    if (!isOperator(access, c.env?.peer ?? '', c.req.raw.headers)) return c.notFound()
    await next()
    c.res.headers.set('Cache-Control', 'no-store')
  }
  return new Hono<PeerEnv>()
    .get('/livez', (c) => c.json({ status: 'ok' }))
    .get('/readyz', async (c) => {
      const purpose = c.req.query('for')
      if (purpose !== undefined && !Object.hasOwn(READY_FOR, purpose))
        return c.json({ error: UNKNOWN_PURPOSE }, 400, { 'Cache-Control': 'no-store' })
      if (draining()) return c.json({ status: 'draining' }, 503, { 'Retry-After': '5' })
      try {
        await READY_FOR[(purpose ?? 'all') as keyof typeof READY_FOR](needs)
        return c.json({ status: 'ok' })
      } catch (error) {
        // Anybody can read this page, so only the log has the reason.
        log.warn('not_ready', { for: purpose, ...describeError(error) })
        return c.json({ status: 'unavailable' }, 503, { 'Retry-After': '5' })
      }
    })
    .get('/version', operatorsOnly, (c) => c.json({ name: 'towpath', version }))
    .get('/metrics', operatorsOnly, async (c) =>
      c.text(toMetricsText(await metrics()), 200, {
        'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
      }),
    )
}

interface OperatorAccess {
  origin: string
  trustProxy: Network[]
  /** Networks of operators, compared with the client's address behind trusted proxies. */
  metricsAllow: Network[]
  metricsToken?: string
}

/**
 * Access to /metrics and /version (docs/contract.md §16): for this machine, the networks of METRICS_ALLOW, and
 * holders of METRICS_TOKEN. A stranger could learn the server's load and the known faults of its version.
 * @param peer the address of the other end of the connection; '' where it is gone
 */
function isOperator(access: OperatorAccess, peer: string, headers: Headers): boolean {
  if (isDirectRequest(peer, headers, access.origin)) return true
  if (access.metricsToken !== undefined && hasToken(headers, access.metricsToken)) return true
  const address = readClientAddress(peer, headers.get('x-forwarded-for'), access.trustProxy)
  return isInNetworks(address, access.metricsAllow)
}

function hasToken(headers: Headers, expected: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  // The hashes have the same length, so the comparison takes constant time.
  return given !== undefined && timingSafeEqual(digest(given), digest(expected))
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** The health checks of a load balancer. Each rejects while this process is unhealthy. */
const READY_FOR = {
  /** Everything: the rows take writes. */
  all: ({ probe }: OperationsNeeds) =>
    withTimeout(probe(), PROBE_MS, () => {
      throw new Error('the row store did not answer in time')
    }),
  /** Cached links. They need neither the row store nor the hit store (docs/contract.md §9). */
  redirects: async ({ acceptsHits }: OperationsNeeds) => {
    if (!acceptsHits()) throw new Error('the spool takes no hits')
  },
}

const UNKNOWN_PURPOSE = 'for: must be "all" or "redirects". Leave it out to ask for both.'

/** The text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/): samples of a name stand together. */
export function toMetricsText(metrics: Metric[]): string {
  const byName = Map.groupBy(metrics, ({ name }) => name)
  return [...byName]
    .map(([name, samples]) => {
      const { help, kind } = samples[0] as Metric
      const lines = samples.map(
        ({ suffix = '', labels = {}, value }) => `${name}${suffix}${toLabelsText(labels)} ${value}\n`,
      )
      return `# HELP ${name} ${escapeText(help)}\n# TYPE ${name} ${kind}\n${lines.join('')}`
    })
    .join('')
}

function toLabelsText(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeText(text, '"')}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeText = (text: string, quote = '') => {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return quote === '' ? escaped : escaped.replaceAll(quote, `\\${quote}`)
}
