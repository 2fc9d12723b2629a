// Access to /metrics and /version (docs/contract.md §16): for this machine, the networks of METRICS_ALLOW, and holders
// of METRICS_TOKEN. They tell a stranger how busy the server is, and which version's mistakes it has.

import { createHash, timingSafeEqual } from 'node:crypto'
import { isInNetworks, type Network } from '../lib/ip-network.ts'
import { readClientAddress } from './client-address.ts'
import { isDirectRequest } from './direct-request.ts'

export interface OperatorAccess {
  origin: string
  trustProxy: Network[]
  /** Networks of operators, compared with the client's address behind trusted proxies. */
  metricsAllow: Network[]
  metricsToken?: string
}

/** @param peer the address of the other end of the connection; '' where it is gone */
export function isOperator(access: OperatorAccess, peer: string, headers: Headers): boolean {
  if (isDirectRequest(peer, headers, access.origin)) return true
  if (access.metricsToken !== undefined && hasToken(headers, access.metricsToken)) return true
  const address = readClientAddress(peer, headers.get('x-forwarded-for'), access.trustProxy)
  return isInNetworks(address, access.metricsAllow)
}

function hasToken(headers: Headers, expected: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  // The hashes have one length, so that the comparison takes the same time for every text.
  return given !== undefined && timingSafeEqual(digest(given), digest(expected))
}

const digest = (text: string) => createHash('sha256').update(text).digest()
