// Finds the domain that a request is for.

import { readRequestHost } from '../../../http/request-host.ts'
import type { Network } from '../../../lib/ip-network.ts'
import type { FindRequestDomain, RequestDomain } from '../../../lib/request-domain.ts'
import type { DomainDirectory } from './domain-directory.ts'

interface Needs {
  domains: Pick<DomainDirectory, 'find'>
  trustProxy: Network[]
}

/** Of a name that nobody has verified. app.ts lets no request for one through. */
const NOBODYS: RequestDomain = { name: '', workspaceId: 0 }

export const createDomainFinder =
  ({ domains, trustProxy }: Needs): FindRequestDomain =>
  (headers, peer) =>
    domains.find(readRequestHost(headers, () => peer, trustProxy)) ?? NOBODYS
