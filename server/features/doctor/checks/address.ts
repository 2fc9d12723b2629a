// Check: the public address leads to this server, and the server sees visitors' own addresses behind the proxy.

import { networkInterfaces } from 'node:os'
import { type OperatorAnswer, requestFromOperator } from '../../../http/operator-request.ts'
import type { Network } from '../../../lib/ip-network.ts'
import { isLoopback, parseIpAddress } from '../../../lib/parse-ip.ts'
import { type Echo, EchoShape } from '../echo.ts'
import { type CheckResult, ok, problem, skipped, warning } from '../finding.ts'
import type { DoctorNeeds } from '../needs.ts'
import { createOperatorToken, toAnswerProof } from '../operator-token.ts'

const TIMEOUT_MS = 5_000
/** An address that nobody has (RFC 5737). A visitor could write it too. */
export const FORGED_ADDRESS = '203.0.113.77'
/** Larger networks have strangers in them. */
const WIDEST = { ipv4: 8, ipv6: 16 }

const GUIDE = 'docs/hosting.md has the settings of Caddy and nginx.'

export async function checkAddress(needs: DoctorNeeds): Promise<CheckResult[]> {
  const { settings, isServerRunning } = needs
  const found = judgeTrustedNetworks(settings.trustProxy)
  const url = new URL(settings.origin)
  if (isLocal(url))
    return [
      ...found,
      warning(
        `Short links begin with ${settings.origin}, which other machines cannot reach.`,
        'Set TOWPATH_URL to the public address, such as https://go.example.',
      ),
    ]
  if (!isServerRunning) return [...found, skipped('The public address is tried while the server runs.')]
  return [...found, ...(await askThroughProxy(needs))]
}

const isLocal = ({ hostname }: URL) =>
  hostname === 'localhost' || isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'))

export function judgeTrustedNetworks(networks: Network[]): CheckResult[] {
  return networks.flatMap(([base, bits]) => {
    if (bits >= WIDEST[base.kind()]) return []
    return [
      problem(
        `TRUST_PROXY names ${base}/${bits}: strangers in this network can claim any address and avoid all limits.`,
        'Name the addresses of your proxies only.',
      ),
    ]
  })
}

export async function askThroughProxy({ settings, secret, now }: DoctorNeeds): Promise<CheckResult[]> {
  const { origin } = settings
  if (secret === undefined) return [skipped('There is no secret yet, so the server cannot be recognized.')]
  const token = createOperatorToken(secret, 'echo', now())
  const answer = await requestFromOperator({
    url: `${origin}/api/doctor/echo`,
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': FORGED_ADDRESS },
    timeoutMs: TIMEOUT_MS,
  })
  if ('reason' in answer)
    return [
      warning(
        `${origin} could not be reached from this machine (${answer.reason}).`,
        'Open it in a browser elsewhere. Some routers do not route their own public address back into the network.',
      ),
    ]
  const echo = readEcho(answer)
  if (echo?.proof !== toAnswerProof(secret, token))
    return [
      problem(
        `${origin} is answered by another server (HTTP ${answer.status}).`,
        'Correct TOWPATH_URL, its DNS record, or the proxy: it must pass on every path and the Authorization header.',
      ),
    ]
  return [judgeEcho(echo, { origin, ownAddresses: [answer.localAddress, ...listOwnAddresses()] })]
}

function readEcho({ body }: OperatorAnswer): Echo | undefined {
  try {
    return EchoShape.safeParse(JSON.parse(body)).data
  } catch {
    return undefined
  }
}

const listOwnAddresses = () =>
  Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? [])

/** @param ownAddresses of this machine: as seen from its own network, it may be a proxy that TRUST_PROXY names */
export function judgeEcho(
  echo: Omit<Echo, 'proof'>,
  { origin, ownAddresses }: { origin: string; ownAddresses: string[] },
): CheckResult {
  const { peer, isPeerTrusted, client, forwardedFor, trustedHops } = echo
  const added = forwardedFor?.filter((hop) => hop !== FORGED_ADDRESS) ?? []
  const isHttps = origin.startsWith('https:')
  if (added.length === 0) {
    if (client === FORGED_ADDRESS)
      return problem(
        `Clients can claim any address: ${peer} is in TRUST_PROXY, and it adds no address to X-Forwarded-For.`,
        `Let the proxy set X-Forwarded-For, or take ${peer} out of TRUST_PROXY. ${GUIDE}`,
      )
    // This server speaks no TLS, so there is a proxy, and it says nothing about the visitor.
    if (isHttps)
      return problem(
        `The proxy at ${peer} does not send X-Forwarded-For: all visitors seem to have its address.`,
        `Let the proxy set X-Forwarded-For, and set TRUST_PROXY=${peer}. ${GUIDE}`,
      )
    return ok(`${origin} leads here without a proxy, and the server sees ${client}.`)
  }
  if (!isPeerTrusted)
    return problem(
      `The server does not trust the proxy at ${peer}: all visitors seem to have its address, and share its limits.`,
      `Set TRUST_PROXY=${peer}. ${GUIDE}`,
    )
  if (client !== FORGED_ADDRESS)
    return ok(`${origin} leads here through ${peer}, and the server sees ${client}.`)
  // Every hop is trusted, including this machine, so a stranger's claims cannot be detected from here.
  if (added.every((hop) => ownAddresses.includes(hop) || isPrivate(hop)))
    return ok(
      `${origin} leads here through ${peer}. This machine is in TRUST_PROXY itself, so no more can be checked.`,
    )
  return problem(
    `Clients can claim any address: TRUST_PROXY names ${trustedHops.join(', ')}, which includes visitors.`,
    `Name the addresses of your proxies only. ${GUIDE}`,
  )
}

const isPrivate = (address: string) => parseIpAddress(address)?.range() !== 'unicast'
