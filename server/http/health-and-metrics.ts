// The endpoints for operators and their tools: /livez, /readyz, /version and /metrics.

import { Hono, type MiddlewareHandler } from 'hono'
import { withTimeout } from '../lib/concurrency/with-timeout.ts'
import { describeError, log } from '../lib/log.ts'
import { isOperator, type OperatorAccess } from './operator-access.ts'

export interface OperationsNeeds {
  /** Who may read /version and /metrics. For everybody else, they do not exist. */
  access: OperatorAccess
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

export interface PeerEnv {
  /** Absent when the request did not come through a socket. */
  Bindings: { peer?: string }
}

const PROBE_MS = 1_000

export function createHealthAndMetrics({ access, probe, draining, version, metrics }: OperationsNeeds) {
  const operatorsOnly: MiddlewareHandler<PeerEnv> = async (c, next) => {
    if (!isOperator(access, c.env?.peer ?? '', c.req.raw.headers)) return c.notFound()
    await next()
    c.res.headers.set('Cache-Control', 'no-store')
  }
  const rejectLate = () => {
    throw new Error('the row store did not answer in time')
  }
  return new Hono<PeerEnv>()
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
    .get('/version', operatorsOnly, (c) => c.json({ name: 'towpath', version }))
    .get('/metrics', operatorsOnly, (c) =>
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
