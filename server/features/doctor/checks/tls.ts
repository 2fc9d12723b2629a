// Check: the certificate of the default domain, and the way from http to https. `domains.ts` asks the same of other domains.

import {
  type OperatorAnswer,
  type PeerCertificate,
  requestFromOperator,
} from '../../../http/operator-request.ts'
import { isLoopback } from '../../../lib/parse-ip.ts'
import { type CheckResult, complaintsOr, problem, skipped, warning } from '../finding.ts'
import { formatCount } from '../format.ts'
import type { DoctorNeeds } from '../needs.ts'

const TIMEOUT_MS = 5_000
/** Each domain answers it. Another path would count as an unknown slug. */
const PATH = '/robots.txt'
const DAY_MS = 24 * 60 * 60 * 1000
/** ACME clients renew a month before the end (https://letsencrypt.org/docs/integration-guide/). */
const SOON_MS = 14 * DAY_MS

export async function checkTls({ settings, now }: DoctorNeeds): Promise<CheckResult[]> {
  const { protocol, hostname, host } = new URL(settings.origin)
  const { origin } = settings
  if (hostname === 'localhost' || isLoopback(hostname)) return [skipped(`${host} is this machine.`)]
  if (protocol === 'http:')
    return [
      warning(
        `${origin} has no TLS: passwords and form entries cross the network in clear text.`,
        'Put Caddy or nginx with a certificate in front (docs/hosting.md), and set TOWPATH_URL to https://….',
      ),
    ]
  const connection = await connectTo(origin)
  if ('unreachable' in connection)
    return [skipped(`${host} could not be reached from this machine (${connection.unreachable}).`)]
  const { certificate } = connection
  return complaintsOr(
    judgeConnection(host, connection, now()),
    `${host} has a valid certificate for ${certificate ? countDays(certificate.validUntil - now()) : 'some days'}.`,
  )
}

type PlainAnswer = Pick<OperatorAnswer, 'status' | 'location'>

export interface TlsConnection {
  /** Why the other end has broken the handshake off: mostly, it has no certificate for the name. */
  refusal?: string
  certificate?: PeerCertificate
  /** The answer of port 80; undefined where nothing answers there, which is fine too. */
  plain: PlainAnswer | undefined
}

/** @param addresses where the name leads, instead of a look-up */
export async function connectTo(
  origin: string,
  addresses?: string[],
): Promise<TlsConnection | { unreachable: string }> {
  const { hostname } = new URL(origin)
  const ask = (url: string) => requestFromOperator({ url, timeoutMs: TIMEOUT_MS, addresses })
  const [secured, unsecured] = await Promise.all([ask(origin + PATH), ask(`http://${hostname}${PATH}`)])
  const plain = 'reason' in unsecured ? undefined : unsecured
  if (!('reason' in secured)) return { certificate: secured.certificate, plain }
  return HANDSHAKE_FAILURE.test(secured.reason)
    ? { refusal: secured.reason, plain }
    : { unreachable: secured.reason }
}

const HANDSHAKE_FAILURE = /^(ERR_SSL_|ERR_TLS_|EPROTO)/

export const judgeConnection = (
  host: string,
  { refusal, certificate, plain }: TlsConnection,
  now: number,
): CheckResult[] => [
  ...(refusal === undefined ? [] : [reportRefusal(host, refusal)]),
  ...(certificate ? judgeCertificate(host, certificate, now) : []),
  ...judgeRedirect(host, plain),
]

const reportRefusal = (host: string, reason: string) =>
  problem(
    `${host} has no certificate (${reason}).`,
    'Caddy gets one automatically: see its log. With nginx, create one and a site for the name (docs/domains.md).',
  )

export const countDays = (ms: number) => formatCount(Math.floor(ms / DAY_MS), 'day')

export function judgeCertificate(
  host: string,
  { problem: reason, validUntil }: PeerCertificate,
  now: number,
): CheckResult[] {
  const fix = 'See the log of the program that renews it: Caddy, certbot, or your provider.'
  if (validUntil <= now)
    return [problem(`The certificate of ${host} expired on ${new Date(validUntil).toISOString()}.`, fix)]
  if (reason !== undefined)
    return [
      problem(
        `The certificate of ${host} is not trusted (${reason}).`,
        'Use one for this name, from an authority that browsers know, with its intermediate certificates.',
      ),
    ]
  if (validUntil - now < SOON_MS)
    return [warning(`The certificate of ${host} ends in ${countDays(validUntil - now)}.`, fix)]
  return []
}

export function judgeRedirect(host: string, plain: PlainAnswer | undefined): CheckResult[] {
  if (!plain || plain.location?.startsWith('https:')) return []
  return [
    warning(
      `http://${host} answers without TLS (HTTP ${plain.status}), and does not redirect to https.`,
      'Let the proxy redirect http to https.',
    ),
  ]
}
