// The metrics of commits to the row store.

import type { HistogramSnapshot } from '../../lib/telemetry/histogram.ts'
import type { Metric } from '../health-and-metrics.ts'
import { toHistogramMetrics } from './histogram-metrics.ts'

export const toCommitMetrics = ({
  writes,
  seconds,
}: Record<'writes' | 'seconds', HistogramSnapshot>): Metric[] => [
  ...toHistogramMetrics(
    { name: 'towpath_commit_writes', help: 'Writes to rows that shared a commit' },
    writes,
  ),
  ...toHistogramMetrics(
    {
      name: 'towpath_commit_duration_seconds',
      help: 'Time of a commit with its writes; on PostgreSQL also the wait for a connection',
    },
    seconds,
  ),
]
