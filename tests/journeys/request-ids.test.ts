// The log lines of one request have one id: in the server, in its hit worker, and at the notification after its answer.

import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { readLog } from '../support/readers/read-log.ts'
import { until } from '../support/until.ts'
import { onBothEngines, onSqlite, type TestServer } from '../support/world.ts'

const hook = startWebhookReceiver()
afterAll(hook.stop)

onBothEngines(
  'the id of a submission',
  (server) => {
    test('is in its answer, its log line, and those of its notification, whose first attempt fails', async () => {
      const workspace = await server().createWorkspace()
      const post = async (path: string, body: object) =>
        (await workspace.api(path, { method: 'POST', body })).json.data
      const channel = await post('/channels', { type: 'webhook', name: 'Hook', url: hook.url })
      const { formKey } = await post('/forms', { name: 'Contact', channelIds: [channel.id] })
      const id = `submission-${crypto.randomUUID()}`
      hook.respondWith(() => new Response('later', { status: 500 }))
      await readLog(async (log) => {
        const headers = { 'X-Request-Id': id }
        const answer = await server().call(`/f/${formKey}`, { method: 'POST', body: { a: 'b' }, headers })
        expect([answer.status, answer.headers.get('x-request-id')]).toEqual([200, id])
        const attempts = () => log.readLines().filter(({ event }) => event === 'delivery_attempt')
        const [failed] = await until('the first attempt', () =>
          attempts().length === 1 ? attempts() : undefined,
        )
        expect(failed).toMatchObject({
          requestId: id,
          workspaceId: workspace.id,
          type: 'webhook',
          status: 500,
        })
        expect(log.readLines().find(({ event }) => event === 'form_request')).toMatchObject({ requestId: id })
        hook.respondWith(() => new Response('ok'))
        const { delivery } = failed
        // Somebody else's request causes the second attempt. The delivery is still that of the submission.
        expect((await workspace.api(`/deliveries/${delivery}/retry`, { method: 'POST' })).status).toBe(200)
        const [, delivered] = await until('the second attempt', () =>
          attempts().length === 2 ? attempts() : undefined,
        )
        expect(delivered).toMatchObject({ requestId: id, delivery, outcome: 'delivered' })
      })
    })
  },
  { environment: { WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' } },
)

onSqlite('submissions of one moment', (server) => {
  test('share a commit, and none has the id of another', async () => {
    const workspace = await server().createWorkspace()
    const post = async (path: string, body: object) =>
      (await workspace.api(path, { method: 'POST', body })).json.data
    const channel = await post('/channels', { type: 'webhook', name: 'Hook', url: 'https://hook.example/' })
    const { formKey } = await post('/forms', { name: 'Contact', channelIds: [channel.id] })
    const ids = Array.from({ length: 8 }, (_, n) => `submission-${n}`)
    const send = (id: string) =>
      server().call(`/f/${formKey}`, { method: 'POST', body: { id }, headers: { 'X-Request-Id': id } })
    await Promise.all(ids.map(send))
    const deliveries = await server()
      .app.db.read.selectFrom('deliveries')
      .innerJoin('submissions', 'submissions.id', 'deliveries.submission_id')
      .where('deliveries.workspace_id', '=', workspace.id)
      .select(['submissions.fields', 'deliveries.request_id'])
      .execute()
    expect(deliveries.map(({ request_id }) => request_id).sort()).toEqual(ids)
    for (const { fields, request_id } of deliveries) expect(JSON.parse(fields)).toEqual([['id', request_id]])
  })
})

test('the hit worker writes the id of the request that asks, in the format of the server', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-asker-'))
  const from = (path: string) => JSON.stringify(join(ROOT, 'server', path))
  // A question that no request can put: the engine refuses its column.
  const script = `
    const { openSpool } = await import(${from('features/hits/spool/spool.ts')})
    const { openHitWorkerClient } = await import(${from('features/hits/worker/client.ts')})
    const { setLogFormat } = await import(${from('lib/log.ts')})
    setLogFormat('pretty')
    const { createRequestContext, runForRequest } = await import(${from('lib/telemetry/request-context.ts')})
    const dataDir = ${JSON.stringify(dataDir)}
    const spool = await openSpool({ dir: dataDir + '/spool' })
    const worker = openHitWorkerClient({ dataDir, spool, salts: [], ownHosts: [], countedUpTo: 0, storeCounts: async () => {} })
    const query = { workspaceId: 1, start: 0, end: 1, classes: ['human'], filters: [], groupBy: { by: 'top', dimension: 'no such column', limit: 1 } }
    const ask = () => worker.ask(query).catch((error) => error)
    await runForRequest(createRequestContext('the-request-that-asks', '/v1/analytics'), ask)
    await worker.close()
    await spool.close()`
  try {
    const run = Bun.spawn([process.execPath, '-e', script], { cwd: ROOT, stdout: 'ignore', stderr: 'pipe' })
    const text = await new Response(run.stderr).text()
    const lines = text.split('\n').filter((line) => line.includes('hit_question_failed'))
    expect(lines).toEqual([
      expect.stringMatching(/ ERROR hit_question_failed +requestId=the-request-that-asks /),
    ])
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

/** Without the notifications of the tests before, which would meet the fault too. */
const OWN_SERVER = {}

onSqlite(
  'a fault of the server',
  (server) => {
    /** The table is away: every request that needs it fails. */
    async function withoutLinks(work: () => Promise<void>) {
      const rename = (from: string, to: string) =>
        server().app.db.write((connection) => connection.schema.alterTable(from).renameTo(to).execute())
      await rename('links', 'links_away')
      try {
        await work()
      } finally {
        await rename('links_away', 'links')
      }
    }

    test('tells a program its id in the header, and a person on the page; the log has the rest under it', () =>
      withoutLinks(() =>
        readLog(async (log) => {
          const headers = { 'X-Request-Id': 'a-fault-of-ours' }
          const page = await server().call('/some-link', { headers: { ...headers, Accept: 'text/html' } })
          expect([page.status, page.headers.get('x-request-id')]).toEqual([503, 'a-fault-of-ours'])
          expect(page.text).toContain('Request id: <code>a-fault-of-ours</code>')
          const json = await server().call('/another-link', {
            headers: { ...headers, Accept: 'application/json' },
          })
          expect(json.headers.get('x-request-id')).toBe('a-fault-of-ours')
          expect(Object.keys(json.json)).toEqual(['error'])
          const faults = log.readLines().filter(({ level }) => level === 'error')
          expect(faults.map(({ requestId }) => requestId)).toEqual(['a-fault-of-ours', 'a-fault-of-ours'])
        }),
      ))
  },
  OWN_SERVER,
)

/** Another process writes to the database while `work` begins. */
async function whileLocked(server: TestServer, work: () => Promise<unknown>) {
  const database = new Database(join(server.dataDir, 'towpath.db'))
  database.run('begin immediate')
  const [begun, working] = [performance.now(), work()]
  await until('some milliseconds', () => performance.now() - begun > 50)
  database.run('rollback')
  database.close()
  await working
}

describe('a slow request', () => {
  onSqlite(
    'with a limit of a millisecond',
    (server) => {
      test('has a line that says where the time went, and nothing of what was asked', async () => {
        const workspace = await server().createWorkspace()
        await readLog(async (log) => {
          await whileLocked(server(), () =>
            workspace.createLink({ destinationUrl: 'https://example.com/cAnArY' }),
          )
          await workspace.api('/analytics/clicks?utmSource=cAnArY')
          const slow = log.readLines().filter(({ event }) => event === 'slow_request')
          const about = {
            level: 'warn',
            workspaceId: workspace.id,
            requestId: expect.any(String),
            ms: expect.any(Number),
          }
          expect(slow).toEqual([
            expect.objectContaining({ ...about, method: 'POST', route: '/v1/links', status: 201 }),
            expect.objectContaining({ ...about, method: 'GET', route: '/v1/analytics/clicks', status: 200 }),
          ])
          expect(slow[0].commitQueueMs).toBeGreaterThan(0)
          expect(slow[0].commitMs).toBeGreaterThanOrEqual(0)
          // The first question starts the worker.
          expect(slow[1].hitQuestionMs).toBeGreaterThan(0)
          expect(log.readText()).not.toContain('cAnArY')
        })
      })
    },
    { environment: { SLOW_REQUEST_MS: '1' } },
  )

  onSqlite(
    'with the limit 0',
    (server) => {
      test('has no line', () =>
        readLog(async (log) => {
          const workspace = await server().createWorkspace()
          await workspace.createLink()
          expect(log.readText()).not.toContain('slow_request')
          expect(log.readText()).toContain('"event":"request"')
        }))
    },
    { environment: { SLOW_REQUEST_MS: '0' } },
  )
})
