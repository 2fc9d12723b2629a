// The metrics of links, for `/metrics`.

import type { Metric } from '../../http/health-and-metrics.ts'
import type { LinkCache } from './cache.ts'

/** @returns the values at this moment */
export const readLinkMetrics = (cache: Pick<LinkCache, 'bytes'>): Metric[] => [
  {
    name: 'towpath_link_cache_bytes',
    kind: 'gauge',
    help: 'About how much memory the cache of links takes, unknown slugs included',
    value: cache.bytes(),
  },
]
