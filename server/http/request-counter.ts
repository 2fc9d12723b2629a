// Counts the answers of the API by the class of their status, for /metrics.

import type { Metric } from './health-and-metrics.ts'

const CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const

export interface RequestCounter {
  count(status: number): void
  metrics(): Metric[]
}

export function createRequestCounter(): RequestCounter {
  const counts = [0, 0, 0, 0]
  return {
    count(status) {
      const index = Math.floor(status / 100) - 2
      counts[index] = (counts[index] ?? 0) + 1
    },
    metrics: () =>
      CLASSES.map((outcome, index) => ({
        name: 'towpath_api_requests_total',
        kind: 'counter',
        help: 'Requests to /v1 that were answered, by the class of the status',
        labels: { outcome },
        value: counts[index] ?? 0,
      })),
  }
}
