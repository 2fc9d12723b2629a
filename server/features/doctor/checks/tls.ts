// Check: the certificates of the hosts of short links, and the way from http to https.

import { type PeerCertificate, requestFromOperator } from '../../../http/operator-request.ts'
import { isLoopback } from '../../../lib/parse-ip.ts'
import { type CheckResult, complaintsOr, problem, skipped, warning } from '../finding.ts'
import type { DoctorNeeds } from '../needs.ts'

const TIMEOUT_MS = 5_000
const DAY_MS = 24 * 60 * 60 * 1000
/** Whoever renews does so a month before the end (https://letsencrypt.org/docs/integration-guide/). */
const SOON_MS = 14 * DAY_MS

/** The default domain is the only one yet. */
export const checkTls = ({ settings, now }: DoctorNeeds): Promise<CheckResult[]> =>
  checkOrigins([settings.origin], now())

export async function checkOrigins(origins: string[], now: number): Promise<CheckResult[]> {
  const found = await Promise.all(origins.map((origin) => checkOrigin(origin, now)))
  return found.flat()
}

async function checkOrigin(origin: string, now: number): Promise<CheckResult[]> {
  const { protocol, hostname, host } = new URL(origin)
  if (hostname === 'localhost' || isLoopback(hostname)) return [skipped(`${host} is this machine.`)]
  if (protocol === 'http:')
    return [
      warning(
        `${origin} has no TLS: passwords and form entries cross the network in clear text.`,
        'Put Caddy or nginx with a certificate in front (docs/hosting.md), and set TOWPATH_URL to https://….',
      ),
    ]
  const [secured, plain] = await Promise.all([
    requestFromOperator({ url: `${origin}/livez`, timeoutMs: TIMEOUT_MS }),
    requestFromOperator({ url: `http://${hostname}/livez`, timeoutMs: TIMEOUT_MS }),
  ])
  if ('reason' in secured)
    return [skipped(`${host} could not be reached from this machine (${secured.reason}).`)]
  const certificate = secured.certificate
  return complaintsOr(
    [
      ...(certificate ? judgeCertificate(host, certificate, now) : []),
      ...judgeRedirect(host, 'reason' in plain ? undefined : plain),
    ],
    `${host} has a valid certificate for ${certificate ? countDays(certificate.validUntil - now) : 'some days'}.`,
  )
}

const countDays = (ms: number) => `${Math.floor(ms / DAY_MS)} days`

export function judgeCertificate(
  host: string,
  { problem: reason, validUntil }: PeerCertificate,
  now: number,
): CheckResult[] {
  const fix = 'See the log of whoever renews it: Caddy, certbot, or your provider.'
  if (validUntil <= now)
    return [problem(`The certificate of ${host} has expired on ${new Date(validUntil).toISOString()}.`, fix)]
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

/** @param plain the answer of port 80; undefined where nothing answers there, which is fine too */
export function judgeRedirect(
  host: string,
  plain: { status: number; location: string | undefined } | undefined,
): CheckResult[] {
  if (!plain || plain.location?.startsWith('https:')) return []
  return [
    warning(
      `http://${host} answers without TLS (HTTP ${plain.status}), and does not lead to https.`,
      'Let the proxy redirect http to https.',
    ),
  ]
}
