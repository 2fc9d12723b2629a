// Finds the domain that a request is for.

import type { FindRequestDomain, RequestDomain } from '../../../lib/request-domain.ts'
import type { DomainDirectory } from './domain-directory.ts'

/** Of a name that nobody has verified. app.ts lets no request for one through. */
const NOBODYS: RequestDomain = { name: '', workspaceId: 0 }

export function createDomainFinder({
  domains,
}: {
  domains: Pick<DomainDirectory, 'find'>
}): FindRequestDomain {
  return (headers) => domains.find(headers.get('host') ?? '') ?? NOBODYS
}
