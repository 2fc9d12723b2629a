import { expect, test } from 'bun:test'
import { timeQuietly } from '../../tests/support/processor-time.ts'
import { onBothEngines } from '../../tests/support/server/test-server.ts'
import { createHealthAndMetrics } from './health-and-metrics.ts'

onBothEngines('operators and their machines', (server) => {
  test('see without a key that the process is up and ready', async () => {
    for (const path of ['/livez', '/readyz']) {
      const { status, json } = await server().call(path)
      expect([path, status, json]).toEqual([path, 200, { status: 'ok' }])
      expect((await server().call(path, { method: 'HEAD' })).status).toBe(200)
    }
  })

  test('see the version', async () => {
    const { json } = await server().call('/version')
    expect(json).toEqual({ name: 'towpath', version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
  })

  test('see metrics that a Prometheus server reads', async () => {
    const { slug } = await (await server().createWorkspace()).createLink()
    await server().click(slug)
    const { status, headers, text } = await server().call('/metrics')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
    const names = new Set<string>()
    for (const block of text.trimEnd().split(/\n(?=# HELP)/)) {
      expect(block).toMatch(
        /^# HELP (towpath_\w+) .+\n# TYPE \1 (gauge|counter)\n\1 -?\d+(\.\d+)?(e[+-]\d+)?$/,
      )
      names.add(block.split(' ')[2] ?? '')
    }
    expect(names.size).toBeGreaterThan(3)
    expect(text).toMatch(/^towpath_hits_total [1-9]/m)
  })
})

const ACCESS = { origin: 'http://localhost:3000', trustProxy: [], metricsAllow: [] }

const app = (probe: () => Promise<void>, draining = false) =>
  createHealthAndMetrics({ access: ACCESS, probe, draining: () => draining, version: '0', metrics: () => [] })

test.each([
  ['a store that refuses', app(() => Promise.reject(new Error('disk full at /secret'))), 'unavailable'],
  ['a store that does not answer', app(() => new Promise(() => {})), 'unavailable'],
  ['a server that is being stopped', app(() => Promise.resolve(), true), 'draining'],
])('with %s it is alive and not ready, and says no more', async (_, operated, status) => {
  const [ready, ms] = await timeQuietly(() => operated.request('/readyz'))
  expect([ready.status, await ready.json()]).toEqual([503, { status }])
  expect(ready.headers.get('retry-after')).toBe('5')
  expect(ms).toBeLessThan(2_000)
  expect((await operated.request('/livez')).status).toBe(200)
})
