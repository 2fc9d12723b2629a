// The metrics of the public socket's connections, for `/metrics`.

import type { Metric } from '../health-and-metrics.ts'
import type { ConnectionCounts } from './connections.ts'

export const readConnectionMetrics = (counts: ConnectionCounts): Metric[] => [
  { name: 'towpath_connections', kind: 'gauge', help: 'Open connections of clients', value: counts.open },
  {
    name: 'towpath_connections_relayed',
    kind: 'gauge',
    help: 'Connections to the general HTTP server that clients’ connections have',
    value: counts.relayed,
  },
  {
    name: 'towpath_connections_refused_total',
    kind: 'counter',
    help: 'Connections ended at once because there were too many, in all or of one address',
    value: counts.refused,
  },
  {
    name: 'towpath_connections_evicted_total',
    kind: 'counter',
    help: 'Connections without a request that made room for new ones',
    value: counts.evicted,
  },
  {
    name: 'towpath_connections_stalled_total',
    kind: 'counter',
    help: 'Connections ended because the client did not go on with its request or its answer',
    value: counts.stalled,
  },
  {
    name: 'towpath_busy_answers_total',
    kind: 'counter',
    help: 'Requests answered with 503 because too many connections were relayed',
    value: counts.busy,
  },
]
