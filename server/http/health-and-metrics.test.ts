import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { timeQuietly } from '../../tests/support/processor-time.ts'
import { fetchMetrics, parseMetrics, sumSamples } from '../../tests/support/read-metrics.ts'
import { until } from '../../tests/support/until.ts'
import { onBothEngines } from '../../tests/support/world.ts'
import { createHealthAndMetrics, toMetricsText } from './health-and-metrics.ts'

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

  test('see metrics that a Prometheus server reads, with the node they are of', async () => {
    const { slug } = await (await server().createWorkspace()).createLink()
    await server().click(slug)
    const { status, headers, text } = await server().call('/metrics')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
    const samples = parseMetrics(text)
    expect(new Set(samples.map(({ name }) => name)).size).toBeGreaterThan(20)
    expect(new Set(samples.map(({ labels }) => labels.node))).toEqual(new Set([server().app.spool.node]))
    expect(samples.filter(({ labels }) => 'worker' in labels)).toEqual([])
    expect(sumSamples(samples, 'towpath_hits_total', { outcome: 'redirect' })).toBeGreaterThan(0)
    expect(
      sumSamples(samples, 'towpath_http_requests_total', { route: '/v1/links', status: '2xx' }),
    ).toBeGreaterThan(0)
  })

  test('see that nothing waits once everything is shipped', async () => {
    await server().waitUntilShipped()
    await until('nothing waits', async () => {
      const samples = await fetchMetrics(server().origin)
      const waiting = ['spool_lag_bytes', 'spool_lag_seconds', 'batches_waiting', 'hits_lag_seconds']
      return waiting.every((name) => sumSamples(samples, `towpath_${name}`) === 0)
    })
  })
})

test('any label value and help text can be read again', () => {
  const text = fc.string({ unit: 'binary' })
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.constantFrom('a', 'b_c'), text), { minLength: 1 }), (all) => {
      const metric = { name: 'towpath_x', kind: 'gauge', help: 'A \\ and a\nline', value: 1.5 } as const
      const samples = all.map((labels) => ({ ...metric, labels }))
      const read = parseMetrics(toMetricsText(samples))
      expect(read).toEqual(samples.map(({ name, labels, value }) => ({ name, labels: { ...labels }, value })))
    }),
  )
})

const ACCESS = { origin: 'http://localhost:3000', trustProxy: [], metricsAllow: [] }

const app = (probe: () => Promise<void>, draining = false, acceptsHits = true) =>
  createHealthAndMetrics({
    access: ACCESS,
    probe,
    draining: () => draining,
    acceptsHits: () => acceptsHits,
    version: '0',
    metrics: async () => [],
  })

const refusing = () => Promise.reject(new Error('disk full at /secret'))

test.each([
  ['without a row store', app(refusing), 200, { status: 'ok' }],
  ['without room for hits', app(async () => {}, false, false), 503, { status: 'unavailable' }],
  ['while it is being stopped', app(async () => {}, true), 503, { status: 'draining' }],
])('%s, it answers whether it can redirect', async (_, operated, status, json) => {
  const ready = await operated.request('/readyz?for=redirects')
  expect([ready.status, await ready.json()]).toEqual([status, json])
})

test('it does not know other things to be ready for', async () => {
  for (const purpose of ['', 'redirect', 'constructor', 'all,redirects']) {
    const answer = await app(async () => {}).request(`/readyz?for=${purpose}`)
    expect([purpose, answer.status, await answer.json()]).toEqual([
      purpose,
      400,
      { error: 'for: must be "all" or "redirects". Leave it out to ask for both.' },
    ])
  }
  expect((await app(async () => {}).request('/readyz?for=all')).status).toBe(200)
})

test.each([
  ['a store that refuses', app(refusing), 'unavailable'],
  ['a store that does not answer', app(() => new Promise(() => {})), 'unavailable'],
  ['a server that is being stopped', app(() => Promise.resolve(), true), 'draining'],
])('with %s it is alive and not ready, and says no more', async (_, operated, status) => {
  const [ready, ms] = await timeQuietly(() => operated.request('/readyz'))
  expect([ready.status, await ready.json()]).toEqual([503, { status }])
  expect(ready.headers.get('retry-after')).toBe('5')
  expect(ms).toBeLessThan(2_000)
  expect((await operated.request('/livez')).status).toBe(200)
})
