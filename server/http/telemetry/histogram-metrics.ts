// A histogram as the samples that Prometheus reads: a bucket for each bound, the sum and the count.

import type { HistogramSnapshot } from '../../lib/telemetry/histogram.ts'
import type { Metric } from '../health-and-metrics.ts'

export function toHistogramMetrics(
  family: { name: string; help: string; labels?: Record<string, string> },
  { bounds, cumulative, sum, count }: HistogramSnapshot,
): Metric[] {
  const sample = (suffix: Metric['suffix'], value: number, le?: string): Metric => ({
    ...family,
    kind: 'histogram',
    suffix,
    labels: { ...family.labels, ...(le !== undefined && { le }) },
    value,
  })
  return [
    ...bounds.map((bound, index) => sample('_bucket', cumulative[index] ?? 0, String(bound))),
    sample('_bucket', count, '+Inf'),
    sample('_sum', sum),
    sample('_count', count),
  ]
}
