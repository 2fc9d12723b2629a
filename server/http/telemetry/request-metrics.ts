// Counts requests by route template, method and status class, and measures their duration. Labels have a bounded set
// of values, without paths and methods of strangers.

import { createHistogram, type Histogram } from '../../lib/telemetry/histogram.ts'
import type { Metric } from '../health-and-metrics.ts'
import { toHistogramMetrics } from './histogram-metrics.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
/** Unknown methods, because a stranger can send any text. */
export const toKnownMethod = (sent: string) => (METHODS.includes(sent) ? sent : 'other')

const CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface RouteCounts {
  route: string
  method: string
  /** By the class of the status, in the order of CLASSES. */
  answers: number[]
  limited: number
}

export interface RequestMetrics {
  /** @param request its route is a template and never a path, its method a known one */
  count(request: { route: string; method: string; status: number; seconds: number }): void
  /** Counts the answers of one route and method without their time: for the fast path, it looks nothing up. */
  createCounter(route: string, method: string): (status: number) => void
  metrics(): Metric[]
}

export function createRequestMetrics(): RequestMetrics {
  const counts = new Map<string, RouteCounts>()
  const durations = new Map<string, Histogram>()
  const findCounts = (route: string, method: string): RouteCounts => {
    const key = `${method} ${route}`
    const found = counts.get(key) ?? { route, method, answers: CLASSES.map(() => 0), limited: 0 }
    counts.set(key, found)
    return found
  }
  const findDuration = (route: string): Histogram => {
    const found = durations.get(route) ?? createHistogram(SECONDS)
    durations.set(route, found)
    return found
  }
  return {
    count({ route, method, status, seconds }) {
      addAnswer(findCounts(route, method), status)
      findDuration(route).observe(seconds)
    },
    createCounter(route, method) {
      const found = findCounts(route, method)
      return (status) => addAnswer(found, status)
    },
    metrics: () => [
      ...[...counts.values()].flatMap(toRequestMetrics),
      ...[...counts.values()].map(toLimitedMetric),
      ...[...durations].flatMap(([route, histogram]) => toDurationMetrics(route, histogram)),
    ],
  }
}

function addAnswer(counts: RouteCounts, status: number): void {
  const index = Math.floor(status / 100) - 2
  counts.answers[index] = (counts.answers[index] ?? 0) + 1
  if (status === 429) counts.limited++
}

/** Includes classes without answers, because a rate needs the zero before the first fault. */
const toRequestMetrics = ({ route, method, answers }: RouteCounts): Metric[] =>
  CLASSES.map((status, index) => ({
    name: 'towpath_http_requests_total',
    kind: 'counter',
    help: 'Requests that were answered, by route, method and class of the status',
    labels: { route, method, status },
    value: answers[index] ?? 0,
  }))

const toLimitedMetric = ({ route, method, limited }: RouteCounts): Metric => ({
  name: 'towpath_http_requests_limited_total',
  kind: 'counter',
  help: 'Requests that a rate limit refused (429), by route and method',
  labels: { route, method },
  value: limited,
})

const toDurationMetrics = (route: string, histogram: Histogram): Metric[] =>
  toHistogramMetrics(
    {
      name: 'towpath_http_request_duration_seconds',
      help: 'Time from a request to its answer, by route. Redirects of the fast path are not measured',
      labels: { route },
    },
    histogram.read(),
  )
