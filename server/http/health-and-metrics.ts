// The endpoints for operators and their tools: /livez, /readyz, /version and /metrics.

import { Hono } from 'hono'
import { withTimeout } from '../lib/concurrency/with-timeout.ts'
import { describeError, log } from '../lib/log.ts'

export interface OperationsNeeds {
  /** Resolves when the database takes writes. */
  probe: () => Promise<void>
  draining: () => boolean
  version: string
  /** The values at this moment. */
  metrics: () => Metric[]
}

export interface Metric {
  name: string
  kind: 'gauge' | 'counter'
  help: string
  value: number
}

const PROBE_MS = 1_000

export function createHealthAndMetrics({ probe, draining, version, metrics }: OperationsNeeds) {
  const rejectLate = () => {
    throw new Error('the row store did not answer in time')
  }
  return new Hono()
    .get('/livez', (c) => c.json({ status: 'ok' }))
    .get('/readyz', async (c) => {
      if (draining()) return c.json({ status: 'draining' }, 503, { 'Retry-After': '5' })
      try {
        await withTimeout(probe(), PROBE_MS, rejectLate)
        return c.json({ status: 'ok' })
      } catch (error) {
        // Anybody can read this page, so only the log has the reason.
        log.warn('not_ready', describeError(error))
        return c.json({ status: 'unavailable' }, 503, { 'Retry-After': '5' })
      }
    })
    .get('/version', (c) => c.json({ name: 'towpath', version }))
    .get('/metrics', (c) =>
      c.text(
        metrics()
          .map(
            ({ name, kind, help, value }) =>
              `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${name} ${value}\n`,
          )
          .join(''),
        200,
        { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
      ),
    )
}
