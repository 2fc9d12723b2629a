// A request's trace goes from its answer to the notification and into the hit worker, to a receiver of OpenTelemetry.

import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../support/fake-servers/otlp-receiver.ts'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { readLog } from '../support/readers/read-log.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { onSqlite, type TestServer } from '../support/world.ts'

const receiver = startOtlpReceiver()
const hook = startWebhookReceiver()
afterAll(() => Promise.all([receiver.stop(), hook.stop()]))

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const traceparent = `00-${TRACE}-${PARENT}-01`

const toSettings = ({ url }: Pick<OtlpReceiver, 'url'>, more: Record<string, string> = {}) => ({
  environment: {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-receiver-key=a%20key',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
    ...more,
  },
})

const untilSpan = (what: string, is: (span: OtlpReceiver['spans'][number]) => boolean, from = receiver) =>
  until(`the span ${what}`, () => from.spans.find(is))

/** A form that notifies the webhook. */
async function createForm(server: TestServer) {
  const workspace = await server.createWorkspace()
  const post = async (path: string, body: object) =>
    (await workspace.api(path, { method: 'POST', body })).json.data
  const channel = await post('/channels', { type: 'webhook', name: 'Hook', url: hook.url })
  const { formKey } = await post('/forms', { name: 'Contact', channelIds: [channel.id] })
  return { workspace, formKey }
}

onSqlite(
  'a traced request',
  (server) => {
    test('is one trace with its commit, has a link from its notification, and continues that of a trusted proxy', async () => {
      const { formKey } = await createForm(server())
      const sent = await server().call(`/f/${formKey}`, {
        method: 'POST',
        body: { email: 'cAnArY@example.com', message: 'cAnArY' },
        headers: { traceparent },
      })
      expect(sent.status).toBe(200)
      const request = await untilSpan(
        'of the request',
        ({ name, traceId }) => name === 'POST /f/*' && traceId === TRACE,
      )
      expect(request).toMatchObject({ parentSpanId: PARENT, kind: 2, failed: false })
      expect(request.attributes).toEqual({
        'http.request.method': 'POST',
        'http.route': '/f/*',
        'http.response.status_code': 200,
      })
      expect(request.resource).toMatchObject({ 'service.name': 'towpath', 'towpath.process': 'server' })
      const write = await untilSpan(
        'of the commit',
        ({ name, traceId }) => name === 'write rows' && traceId === TRACE,
      )
      expect(write.parentSpanId).toBe(request.spanId)
      const delivery = await untilSpan('of the notification', ({ links }) => links.includes(TRACE))
      expect(delivery).toMatchObject({ name: 'deliver webhook', kind: 3, failed: false })
      expect(delivery.traceId).not.toBe(TRACE)
    })

    test('goes on in the hit worker, which has spans of its own', async () => {
      const workspace = await server().createWorkspace()
      const { slug } = await workspace.createLink()
      await server().click(slug)
      await server().waitUntilShipped()
      expect((await workspace.api('/analytics/clicks?utmSource=cAnArY')).status).toBe(200)
      const request = await untilSpan('of the question', ({ name }) => name === 'GET /v1/analytics/clicks')
      const call = await untilSpan('of the call', ({ parentSpanId }) => parentSpanId === request.spanId)
      expect(call).toMatchObject({ name: 'ask hits ask', kind: 3 })
      const answer = await untilSpan('of the worker', ({ parentSpanId }) => parentSpanId === call.spanId)
      expect(answer).toMatchObject({
        traceId: request.traceId,
        resource: { 'towpath.process': 'hit-worker' },
      })
      await untilSpan('of a batch', ({ name }) => name === 'load batch')
    })

    test('says nothing of what was sent, and the receiver gets its key', () => {
      expect(receiver.requests.length).toBeGreaterThan(0)
      for (const { path, headers, body } of receiver.requests) {
        expect([path, headers['x-receiver-key']]).toEqual(['/v1/traces', 'a key'])
        expect(body).not.toContain('cAnArY')
        expect(body).not.toContain('127.0.0.1')
      }
    })
  },
  { ...toSettings(receiver, { TRUST_PROXY: '127.0.0.1' }), hitWorker: 'as a process' },
)

onSqlite(
  'without a trusted proxy',
  (server) => {
    test('nobody chooses the trace of a request', async () => {
      await server().call('/v1/workspace-of-nobody', { headers: { traceparent } })
      const request = await untilSpan('of the request', ({ name }) => name === 'GET /v1/*')
      expect(request.traceId).not.toBe(TRACE)
      expect(request.parentSpanId).toBeUndefined()
    })
  },
  toSettings(receiver),
)

onSqlite(
  'with the sampler always_off',
  (server) => {
    test('nothing is sent', async () => {
      const before = receiver.requests.length
      expect((await server().call('/v1/links')).status).toBe(401)
      await server().close()
      expect(receiver.requests.length).toBe(before)
    })
  },
  toSettings(receiver, { OTEL_TRACES_SAMPLER: 'always_off' }),
)

const hanging = startOtlpReceiver()
hanging.hang()
afterAll(hanging.stop)

full.describe('', () =>
  onSqlite(
    'a receiver that hangs',
    (server) => {
      test('costs spans and no request, and the log says so once', () =>
        readLog(async (log) => {
          const sent = 4_000
          for (let n = 0; n < sent; n += 50) {
            const answers = await Promise.all(Array.from({ length: 50 }, () => server().call('/v1/links')))
            expect(answers.every(({ status }) => status === 401)).toBe(true)
          }
          const countFailures = () =>
            log.readLines().filter(({ event }) => event === 'traces_not_sent').length
          await until('the line in the log', () => countFailures() > 0)
          hanging.release()
          await until('the line that it works again', async () => {
            await server().call('/v1/links')
            return log.readText().includes('traces_sent_again')
          })
          expect(countFailures()).toBe(1)
          // The waiting spans had found room: the others are gone.
          expect(hanging.spans.length).toBeLessThan(sent - 500)
        }))
    },
    toSettings(hanging),
  ),
)

test('without a receiver, nothing of OpenTelemetry is loaded', async () => {
  const script = `
    await import(${JSON.stringify(join(ROOT, 'server/start/run-server.ts'))})
    await import(${JSON.stringify(join(ROOT, 'server/features/hits/worker/open-worker.ts'))})
    const count = () => Object.keys(require.cache).filter((path) => path.includes('@opentelemetry')).length
    const { openTracing } = await import(${JSON.stringify(join(ROOT, 'server/http/telemetry/open-tracing.ts'))})
    const process = { version: '0', node: 'a', part: 'server' }
    await openTracing(undefined, process)
    const without = count()
    const settings = { url: 'http://127.0.0.1:9/v1/traces', serviceName: 'a', headers: {}, sampler: 'always_off', ratio: 1 }
    await (await openTracing(settings, process)).close()
    console.log(JSON.stringify({ without, isCounted: count() > 10 }))`
  const run = Bun.spawn([process.execPath, '-e', script], { cwd: ROOT, stdout: 'pipe', stderr: 'inherit' })
  expect(JSON.parse(await new Response(run.stdout).text())).toEqual({ without: 0, isCounted: true })
})
