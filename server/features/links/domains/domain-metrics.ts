// The metrics of workspaces' domains, for `/metrics`.

import type { Metric } from '../../../http/health-and-metrics.ts'
import type { DomainDirectory } from '../names/domain-directory.ts'

/** @returns the values at this moment */
export function readDomainMetrics(domains: Pick<DomainDirectory, 'count'>): Metric[] {
  const { verified, failing } = domains.count()
  return [
    {
      name: 'towpath_domains_verified',
      kind: 'gauge',
      help: 'Domains of workspaces that answer',
      value: verified,
    },
    {
      name: 'towpath_domains_failing',
      kind: 'gauge',
      help: 'Verified domains whose last DNS check failed: after seven days they stop answering',
      value: failing,
    },
  ]
}
