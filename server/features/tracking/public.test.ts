// POST /e over HTTP: accepted and refused page views, the recorded ones, and that no page view is ever a click.

import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { nextSenderAddress } from '../../../tests/support/form-requests.ts'
import { until } from '../../../tests/support/until.ts'
import { BROWSER_USER_AGENT, onBothEngines, type TestServer } from '../../../tests/support/world.ts'
import type { HitOutcome } from '../../storage/hits/hit.ts'
import type { HitQuery } from '../../storage/hits/hit-engine.ts'

const PAGE = 'https://shop.example/spring'
const MINUTE = 60_000
let now = Date.parse('2026-05-10T12:00:00Z')

interface See {
  url?: string
  from?: string
  eventId?: string
  headers?: Record<string, string>
}

const see = (server: TestServer, publicId: string, { url = PAGE, from = '', eventId, headers }: See = {}) =>
  server.post('/e', JSON.stringify({ w: publicId, u: url, r: from, e: eventId }), {
    'Content-Type': 'text/plain;charset=UTF-8',
    'User-Agent': BROWSER_USER_AGENT,
    'X-Forwarded-For': nextSenderAddress(),
    ...headers,
  })

/** How many hits of these outcomes the analytics have, by a column. */
async function counted(
  server: TestServer,
  workspaceId: number,
  outcomes: HitOutcome[],
  by: Extract<HitQuery['groupBy'], { nullAs: string }>['by'] = 'class',
  classes: HitQuery['classes'] = ['human', 'bot', 'prefetch', 'head'],
) {
  await server.waitUntilShipped()
  const answer = await server.app.hitWorker.ask({
    workspaceId,
    start: 0,
    end: 2 ** 45,
    classes,
    outcomes,
    filters: [],
    groupBy: { by, limit: 100, nullAs: '(none)' },
  })
  return Object.fromEntries(answer.map(({ key, clicks }) => [String(key), clicks]))
}

onBothEngines(
  'a page view',
  (server) => {
    test('is answered with an event id that every site may read, and no cookie', async () => {
      const { publicId } = await server().createWorkspace()
      const { status, headers, json } = await see(server(), publicId, {
        headers: { Origin: 'https://a.example' },
      })
      expect([status, Object.keys(json)]).toEqual([200, ['e']])
      expect(json.e).toMatch(/^[\w-]{100,2048}$/)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('set-cookie')).toBeNull()
    })

    test('is a landing first, then a view, and a landing again after half an hour', async () => {
      const { id, publicId } = await server().createWorkspace()
      let eventId: string | undefined
      for (const minutes of [0, 1, 29, 30, 5]) {
        now += minutes * MINUTE
        const { json } = await see(server(), publicId, { eventId })
        expect(json.e).not.toBe(eventId)
        eventId = json.e
      }
      expect(await counted(server(), id, ['landing'])).toEqual({ human: 2 })
      expect(await counted(server(), id, ['view'])).toEqual({ human: 3 })
    })

    test('after midnight belongs to the same visit', async () => {
      const before = now
      now = Date.parse('2026-05-10T23:55:00Z')
      const { id, publicId } = await server().createWorkspace()
      const { json } = await see(server(), publicId)
      now += 10 * MINUTE
      await see(server(), publicId, { eventId: json.e })
      now = before
      expect(await counted(server(), id, ['landing', 'view'])).toEqual({ human: 2 })
      expect(await counted(server(), id, ['landing'])).toEqual({ human: 1 })
    })

    test.each<[string, (own: string, foreign: string) => unknown]>([
      ['forged', () => 'A'.repeat(200)],
      ['cut', (own) => own.slice(0, -4)],
      ['of another workspace', (_, foreign) => foreign],
      ['of the wrong type', () => ({ toString: 1 })],
    ])('with an event id that is %s starts a visit', async (_, of) => {
      const [own, other] = [await server().createWorkspace(), await server().createWorkspace()]
      const first = (await see(server(), own.publicId)).json.e
      const foreign = (await see(server(), other.publicId)).json.e
      const { status, json } = await see(server(), own.publicId, { eventId: of(first, foreign) as string })
      expect([status, typeof json.e]).toEqual([200, 'string'])
      expect(await counted(server(), own.id, ['landing'])).toEqual({ human: 2 })
      expect(await counted(server(), own.id, ['view'])).toEqual({})
    })

    test('records its campaign, referrer and link', async () => {
      const { id, publicId, createLink } = await server().createWorkspace()
      const { id: linkId, slug } = await createLink({
        trackConversions: true,
        destinationUrl: `${PAGE}?utm_source=n`,
      })
      const { headers } = await server().click(slug)
      const url = headers.get('location') as string
      await see(server(), publicId, { url: `${url}&token=secret`, from: 'https://www.search.example/?q=1' })
      expect(await counted(server(), id, ['landing'], 'linkId')).toEqual({ [linkId]: 1 })
      expect(await counted(server(), id, ['landing'], 'utmSource')).toEqual({ n: 1 })
      expect(await counted(server(), id, ['landing'], 'referrerUrl')).toEqual({
        'https://www.search.example/': 1,
      })
      const other = await server().createWorkspace()
      await see(server(), other.publicId, { url })
      expect(await counted(server(), other.id, ['landing'], 'linkId')).toEqual({ 0: 1 })
    })

    test('is no click: analytics, counters, limits and exports leave it out', async () => {
      const { id, publicId, createLink, api } = await server().createWorkspace()
      const made = await createLink({ trackConversions: true, clickLimit: 2 })
      const { headers } = await server().click(made.slug)
      const url = headers.get('location') as string
      let eventId: string | undefined
      for (let n = 0; n < 5; n++) eventId = (await see(server(), publicId, { url, eventId })).json.e
      expect(await counted(server(), id, ['landing', 'view'], 'linkId')).toEqual({ [made.id]: 5 })
      const range = 'start=2026-05-01&end=2026-06-01&class=all'
      expect((await api(`/analytics/clicks?${range}`)).json.data).toMatchObject({ clicks: 1, visitors: 1 })
      for (const groupBy of ['link', 'referrer', 'utmSource', 'country', 'trigger', 'class', 'time']) {
        const { json } = await api(`/analytics/clicks?${range}&groupBy=${groupBy}`)
        const clicks = json.data.map((row: { clicks: number }) => row.clicks)
        expect([groupBy, clicks.reduce((a: number, b: number) => a + b, 0)]).toEqual([groupBy, 1])
      }
      const { text } = await api(`/analytics/clicks/export?format=ndjson&${range}`)
      expect(text.trim().split('\n')).toHaveLength(1)
      const counters = await until('the click is counted', async () => {
        const { data } = (await api(`/links/${made.id}`)).json
        return data.clicks > 0 && data
      })
      expect(counters).toMatchObject({ clicks: 1, leads: 0 })
      expect((await server().click(made.slug)).status).toBe(302)
      expect((await server().click(made.slug)).status).toBe(410)
    })

    test('of a bot or a prefetch is recorded as such', async () => {
      const { id, publicId } = await server().createWorkspace()
      await see(server(), publicId, { headers: { 'User-Agent': 'Googlebot/2.1' } })
      await see(server(), publicId, { headers: { 'Sec-Purpose': 'prefetch;prerender' } })
      expect(await counted(server(), id, ['landing'])).toEqual({ bot: 1, prefetch: 1 })
    })

    test('under Global Privacy Control is not recorded, and gets no event id', async () => {
      const { id, publicId } = await server().createWorkspace()
      const { status, json } = await see(server(), publicId, { headers: { 'Sec-GPC': '1' } })
      expect([status, json]).toEqual([200, { e: null }])
      await see(server(), publicId, { headers: { 'Sec-GPC': '0' } })
      expect(await counted(server(), id, ['landing', 'view'])).toEqual({ human: 1 })
    })
  },
  { now: () => now, environment: { TRUST_PROXY: '127.0.0.1' } },
)

/** One request on a connection of its own; in two pieces it is not answered at the socket. */
async function dial(server: TestServer, body: string, more: string, inTwo: boolean) {
  const { hostname, port } = new URL(server.origin)
  const lines = [
    'POST /e HTTP/1.1',
    'Host: a',
    'Connection: close',
    `X-Forwarded-For: ${nextSenderAddress()}`,
  ]
  const head = `${lines.join('\r\n')}\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  const text = await new Promise<string>((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => {
      socket.setNoDelay(true)
      // The first piece is alone in its packet: the server, in this process, reads it before the second is written.
      if (inTwo) socket.write(head, () => setImmediate(() => setImmediate(() => socket.write(body))))
      else socket.write(head + body)
    })
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
  const header = (name: string) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(text)?.[1]
  return {
    status: text.slice(0, 12),
    type: header('content-type'),
    origin: header('access-control-allow-origin'),
    store: header('cache-control'),
    body: text.split('\r\n\r\n')[1]?.replace(/"e":".*"/, '"e":"…"'),
  }
}

onBothEngines(
  'a malformed page view',
  (server) => {
    const send = (body: string, call: { method?: string; headers?: Record<string, string> } = {}) =>
      server().call('/e', {
        method: call.method ?? 'POST',
        ...(call.method === 'GET' ? {} : { body }),
        headers: {
          'X-Forwarded-For': nextSenderAddress(),
          'User-Agent': BROWSER_USER_AGENT,
          ...call.headers,
        },
      })

    test('is refused with a message, and nothing is recorded', async () => {
      const { id, publicId: w } = await server().createWorkspace()
      const view = (change: object) => JSON.stringify({ w, u: PAGE, r: '', ...change })
      const address = 'u: must be an http or https URL'
      const cases: [string, number, string][] = [
        ['', 400, 'Invalid JSON'],
        ['{', 400, 'Invalid JSON'],
        ['[]', 400, 'The body must be an object'],
        ['null', 400, 'The body must be an object'],
        ['{}', 400, 'w: must be the public id of a workspace'],
        [view({ w: 7 }), 400, 'w: must be the public id of a workspace'],
        [view({ w: String(id) }), 404, 'Workspace not found'],
        [view({ w: 'ws_\0' }), 404, 'Workspace not found'],
        [view({ w: 'x'.repeat(5000) }), 404, 'Workspace not found'],
        [view({ u: undefined }), 400, "u: must be the page's address"],
        [view({ u: ['https://a.example'] }), 400, "u: must be the page's address"],
        [view({ u: '' }), 400, address],
        [view({ u: 'javascript:alert(1)' }), 400, address],
        [view({ r: 1 }), 400, "r: must be the referrer's address"],
        [view({ r: 'x'.repeat(8192) }), 413, 'Page view too large'],
        ['['.repeat(8192), 400, 'Invalid JSON'],
      ]
      for (const [body, status, error] of cases) {
        const answer = await send(body)
        expect([body.slice(0, 60), answer.status, answer.json]).toEqual([
          body.slice(0, 60),
          status,
          { error },
        ])
        expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      }
      expect(await counted(server(), id, ['landing', 'view'])).toEqual({})
      expect(await counted(server(), 0, ['landing', 'view'])).toEqual({})
    })

    test('gets the same answer whether the request came in one piece or in two', async () => {
      const { publicId: w } = await server().createWorkspace()
      const view = (change: object) => JSON.stringify({ w, u: PAGE, r: '', ...change })
      const bodies = [
        view({}),
        '{',
        view({ w: 'ws_x' }),
        view({ u: 'x' }),
        view({ r: 1 }),
        `\ufeff${view({})}`,
      ]
      const cases: [string, string][] = [
        ...bodies.map((each): [string, string] => [each, '']),
        [view({}), 'Sec-GPC: 1\r\n'],
      ]
      for (const [body, more] of cases) {
        const [whole, split] = await Promise.all(
          [false, true].map((inTwo) => dial(server(), body, more, inTwo)),
        )
        expect(whole).toEqual(split as typeof whole)
        expect(whole?.origin).toBe('*')
      }
    })

    test('of a megabyte is refused without being read', async () => {
      const { status, json } = await send('x'.repeat(1024 * 1024))
      expect([status, json]).toEqual([413, { error: 'Page view too large' }])
      const stream = new ReadableStream({
        pull(controller) {
          controller.enqueue(new Uint8Array(4096))
        },
      })
      const endless = await fetch(`${server().origin}/e`, { method: 'POST', body: stream })
      expect(endless.status).toBe(413)
    })

    test('answers other methods', async () => {
      const preflight = await send('', { method: 'OPTIONS' })
      expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
        204,
        'POST, OPTIONS',
      ])
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const { status, headers, json } = await send('', { method })
        expect([status, headers.get('allow'), json]).toEqual([
          405,
          'POST, OPTIONS',
          { error: 'Method not allowed' },
        ])
      }
    })

    test('refuses more than 120 a minute from one address, and not from others', async () => {
      const { id, publicId } = await server().createWorkspace()
      const crowded = { 'X-Forwarded-For': nextSenderAddress() }
      const statuses = await Promise.all(
        Array.from({ length: 130 }, async () => (await see(server(), publicId, { headers: crowded })).status),
      )
      expect(statuses.filter((status) => status === 200)).toHaveLength(120)
      const refused = await see(server(), publicId, { headers: crowded })
      expect([refused.status, refused.json]).toEqual([429, { error: 'Too many page views' }])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
      expect((await see(server(), publicId)).status).toBe(200)
      expect(await counted(server(), id, ['landing'])).toEqual({ human: 121 })
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1' } },
)

onBothEngines(
  'paths that the operator renamed',
  (server) => {
    test('serve the snippet and its intake, and are reserved slugs', async () => {
      const { publicId, api } = await server().createWorkspace()
      const body = JSON.stringify({ w: publicId, u: PAGE, r: '' })
      expect((await server().post('/harbour', body)).status).toBe(200)
      expect((await server().call('/harbour/forms?keys=a')).json).toEqual({ forms: {} })
      expect((await server().call('/boat.js')).headers.get('content-type')).toContain('javascript')
      expect((await server().call('/t.js')).status).toBe(404)
      expect((await server().post('/e', body)).status).toBe(404)
      for (const slug of ['harbour', 'Boat.js', 'e', 't.js']) {
        const { status } = await api('/links', { method: 'POST', body: { destinationUrl: PAGE, slug } })
        expect([slug, status]).toEqual([slug, 409])
      }
    })
  },
  { environment: { SNIPPET_PATH: 'boat.js', INTAKE_PATH: 'harbour' } },
)
