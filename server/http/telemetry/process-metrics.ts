// The metrics of the process, with the standard names that all clients of Prometheus use, and how late its event loop is.

import { readdirSync, statSync } from 'node:fs'
import { createHistogram } from '../../lib/telemetry/histogram.ts'
import { readDescriptorLimit } from '../fast-path/connection-limits.ts'
import type { Metric } from '../health-and-metrics.ts'
import { toHistogramMetrics } from './histogram-metrics.ts'

/** A stall of this length is always detected, a shorter one only sometimes. */
const LAG_EVERY_MS = 200
const LAG_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
const MICROSECONDS = 1e6

export interface ProcessMetrics {
  metrics(): Metric[]
  close(): void
}

/** @param onTurn called with the time since its last call */
export function openProcessMetrics(version: string, onTurn: (sinceMs: number) => void): ProcessMetrics {
  const lag = createHistogram(LAG_SECONDS)
  let expectedAt = performance.now() + LAG_EVERY_MS
  const timer = setInterval(() => {
    const now = performance.now()
    lag.observe(Math.max(0, now - expectedAt) / 1000)
    onTurn(now - expectedAt + LAG_EVERY_MS)
    expectedAt = now + LAG_EVERY_MS
  }, LAG_EVERY_MS)
  timer.unref()
  return {
    metrics: () => [
      ...readProcess(),
      ...toHistogramMetrics(
        { name: 'towpath_event_loop_lag_seconds', help: 'How late a timer of the process was' },
        lag.read(),
      ),
      {
        name: 'towpath_build_info',
        kind: 'gauge',
        help: 'Always 1; its label is the version of the server',
        labels: { version },
        value: 1,
      },
    ],
    close: () => clearInterval(timer),
  }
}

function readProcess(): Metric[] {
  const { user, system } = process.cpuUsage()
  const openFiles = countOpenFiles()
  return [
    {
      name: 'process_cpu_seconds_total',
      kind: 'counter',
      help: 'Processor time of the server, without its hit worker',
      value: (user + system) / MICROSECONDS,
    },
    {
      name: 'process_resident_memory_bytes',
      kind: 'gauge',
      help: 'Resident memory of the server, without its hit worker',
      value: process.memoryUsage.rss(),
    },
    {
      name: 'process_start_time_seconds',
      kind: 'gauge',
      help: 'When the process started, in seconds since 1970',
      value: Math.round(performance.timeOrigin) / 1000,
    },
    ...(openFiles === undefined ? [] : [toOpenFilesMetric(openFiles)]),
    {
      name: 'process_max_fds',
      kind: 'gauge',
      help: 'How many descriptors (files, connections) the process may have',
      value: readDescriptorLimit(),
    },
  ]
}

const toOpenFilesMetric = (value: number): Metric => ({
  name: 'process_open_fds',
  kind: 'gauge',
  help: 'Descriptors (files, connections) that the process has',
  value,
})

const DESCRIPTORS = '/proc/self/fd'

/** Since Linux 6.2 the size of the directory is their number. Before, they are listed. */
function countOpenFiles(): number | undefined {
  try {
    return statSync(DESCRIPTORS).size || readdirSync(DESCRIPTORS).length
  } catch {
    // A system without /proc, such as macOS.
    return undefined
  }
}
