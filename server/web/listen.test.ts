// The product with the fast path and without it: the same answers, the same hits, on every address of the machine.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { findFreePort } from '../../tests/support/processes/free-port.ts'
import { dialRaw } from '../../tests/support/raw-client.ts'
import { until } from '../../tests/support/until.ts'
import {
  BROWSER_USER_AGENT,
  startServer,
  type TestServer,
  type TestWorkspace,
} from '../../tests/support/world.ts'
import { listen, listenOnHost } from './listen.ts'

const LINKS: [string, Record<string, unknown>][] = [
  ['plain', {}],
  ['permanent', { redirectStatus: 308 }],
  ['that forwards its query', { forwardQuery: true }],
  ['that tracks conversions', { trackConversions: true }],
  ['with a password', { password: 'x' }],
  ['with a click limit', { clickLimit: 100 }],
  ['that is archived', { archived: true }],
]
const KEPT = ['location', 'cache-control', 'content-length', 'content-type', 'connection']

const INNER_PORT = String(findFreePort())
const servers: { server: TestServer; workspace: TestWorkspace }[] = []
beforeAll(async () => {
  for (const FAST_PATH of ['on', 'off']) {
    // Without a host, the socket takes IPv6 and IPv4: it names the client of every test here `::ffff:127.0.0.1`.
    const inner: Record<string, string> = FAST_PATH === 'on' ? { INNER_PORT } : {}
    const environment = { FAST_PATH, HOST: '', TRUST_PROXY: '127.0.0.1', ...inner }
    const server = await startServer('sqlite', { environment })
    servers.push({ server, workspace: await server.createWorkspace() })
  }
}, 60_000)
afterAll(() => Promise.all(servers.map(({ server }) => server.close())))

/** Asks each of the two servers. */
const fromBoth = <T>(ask: (each: (typeof servers)[number]) => Promise<T>) => Promise.all(servers.map(ask))

async function answerOf(server: TestServer, path: string, init: RequestInit = {}) {
  const answer = await fetch(server.origin + path, { redirect: 'manual', ...init })
  const headers = KEPT.map((name) => `${name}: ${answer.headers.get(name)?.replace(/tp_cid=[\w.-]+/, '')}`)
  const text = (await answer.text()).replace(/[\w-]+\.[\w-]+/g, '')
  return { status: answer.status, headers, text }
}

test.each(LINKS)('a link %s is answered alike', async (_, fields) => {
  const [on, off] = await fromBoth(async ({ server, workspace }) => {
    const { slug } = await workspace.createLink({ ...fields, title: 'same' })
    // The second time the link is in memory.
    await server.click(slug)
    const headers = { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': '8.8.8.8' }
    const answers = [
      await answerOf(server, `/${slug}?a=b`, { headers }),
      await answerOf(server, `/${slug}`, { headers, method: 'HEAD' }),
      await answerOf(server, `/${slug}`, { headers, method: 'DELETE' }),
      await answerOf(server, `/${slug}/`, { headers }),
    ]
    return JSON.stringify(answers).replaceAll(slug, 'slug')
  })
  expect(off).toBe(on as string)
})

test.each<[string, string, RequestInit]>([
  ['an unknown link', '/unknown', { headers: { Accept: 'application/json' } }],
  [
    'a page view of an unknown workspace',
    '/e',
    { method: 'POST', body: '{"w":"none","u":"https://a.example/"}' },
  ],
  ['a page view that is none', '/e', { method: 'POST', body: 'nonsense' }],
  ['the health check', '/healthz', {}],
  ['the API without a key', '/v1/links', {}],
])('%s is answered alike', async (_, path, init) => {
  const [on, off] = await fromBoth(({ server }) => answerOf(server, path, init))
  expect(off).toEqual(on as NonNullable<typeof on>)
})

// RFC 9112 §3.2.
test.each([
  'Host: a.example\r\nHost: b.example',
  'Host: a.example\r\nhost: a.example',
  'Host: a.example, b.example',
])('a request with more than one host is refused: %j', async (hosts) => {
  const answers = await fromBoth(async ({ server, workspace }) => {
    const { slug } = await workspace.createLink()
    const paths = [`/${slug}`, '/unknown', '/v1/links', '/f/none', '/']
    return Promise.all(
      paths.map(async (path) => {
        const client = await dialRaw(Number(new URL(server.origin).port))
        client.socket.write(`GET ${path} HTTP/1.1\r\n${hosts}\r\n\r\n`)
        await until('the end', () => client.ended)
        return client.text.slice(0, 12)
      }),
    )
  })
  expect(answers).toEqual(Array(2).fill(Array(5).fill('HTTP/1.1 400')))
})

test('IPv6 and IPv4 are answered, and each client counts by its own address', async () => {
  const answers = await fromBoth(async ({ server, workspace }) => {
    const { json } = await workspace.api('/forms', { method: 'POST', body: { name: 'Contact' } })
    const { slug } = await workspace.createLink({ destinationUrl: 'https://example.com/six' })
    const { port } = new URL(server.origin)
    const ask = async (host: string, path: string, headers: Record<string, string> = {}, body?: string) =>
      (
        await fetch(`http://${host}:${port}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          redirect: 'manual',
          headers: { Accept: 'application/json', 'User-Agent': BROWSER_USER_AGENT, ...headers },
          body,
        })
      ).status
    const send = (host: string, forwarded?: string) =>
      ask(
        host,
        `/f/${json.data.formKey}`,
        { 'Content-Type': 'application/json', ...(forwarded && { 'X-Forwarded-For': forwarded }) },
        JSON.stringify({ message: crypto.randomUUID() }),
      )
    const [four, six] = ['127.0.0.1', '[::1]']
    const ten = await Promise.all(Array.from({ length: 10 }, () => send(four, '203.0.113.9')))
    return {
      redirects: [await ask(four, `/${slug}`), await ask(six, `/${slug}`)],
      // This machine may read them, and requests through a proxy may not.
      version: [await ask(four, '/version'), await ask(six, '/version')],
      versionThroughProxy: [await ask(four, '/version', { 'X-Forwarded-For': '8.8.8.8' })],
      ten: new Set(ten),
      eleventh: await send(four, '203.0.113.9'),
      sameClientMapped: await send(four, '::ffff:203.0.113.9'),
      otherClients: [await send(four, '203.0.113.10'), await send(four)],
      // Not one of TRUST_PROXY: what it says about others does not count.
      overIPv6: await send(six, '203.0.113.9'),
    }
  })
  const expected = {
    redirects: [302, 302],
    version: [200, 200],
    versionThroughProxy: [404],
    ten: new Set([200]),
    eleventh: 429,
    sameClientMapped: 429,
    otherClients: [200, 200],
    overIPv6: 200,
  }
  expect(answers).toEqual([expected, expected])
})

describe.each([true, false])('several processes on one port, with the fast path %p', (fastPath) => {
  const toApp = (text: string) => ({
    serve: { routes: {}, fetch: async () => new Response(text) },
    fastPath: { redirect: () => null },
    setConnectionMetrics() {},
  })
  const host = '127.0.0.1'

  test('all get connections', async () => {
    const shared = { host, port: findFreePort(), innerPort: findFreePort(), fastPath, reusePort: true }
    const listeners = ['a', 'b'].map((text) => listen(shared, toApp(text)))
    const headers = { Connection: 'close' }
    for (const port of [shared.port, shared.innerPort]) {
      const answers = Array.from({ length: 40 }, async () =>
        (await fetch(`http://${host}:${port}/v1`, { keepalive: false, headers })).text(),
      )
      expect([...new Set(await Promise.all(answers))].sort()).toEqual(['a', 'b'])
    }
    for (const listener of listeners) await listener.stop(true)
  })

  test('a port in use is an error that names the setting', async () => {
    const [port, innerPort] = [findFreePort(), findFreePort()]
    const first = listen({ host, port, fastPath }, toApp('a'))
    expect(() => listen({ host, port, innerPort, fastPath }, toApp('b'))).toThrow(
      `HOST, PORT: 127.0.0.1, port ${port} cannot be used`,
    )
    expect(() => listen({ host, port: innerPort, innerPort: port, fastPath }, toApp('b'))).toThrow(
      `HOST, INNER_PORT: 127.0.0.1, port ${port} cannot be used`,
    )
    await first.stop(true)
  })
})

describe('a server with the fast path that stops', () => {
  const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello`

  /** A server that is stopped as soon as it has read a POST to `/last`, before anything else can happen. */
  function listenUntilLast() {
    const port = findFreePort()
    const stopped = Promise.withResolvers<void>()
    const listener = listen(
      { host: '127.0.0.1', port, fastPath: true },
      {
        serve: { routes: {}, fetch: async (request) => new Response(`got ${await request.text()}`) },
        fastPath: {
          redirect: () => null,
          post({ path }) {
            if (path === 'last')
              queueMicrotask(() => listener.stop(false).then(stopped.resolve, stopped.reject))
            return null
          },
        },
        setConnectionMetrics() {},
      },
    )
    return { port, stopped: stopped.promise }
  }

  test('answers a request that it has just read', async () => {
    const { port, stopped } = listenUntilLast()
    const client = await dialRaw(port)
    client.socket.write(post('/last'))
    await until('the end', () => client.ended)
    expect(client.text).toStartWith('HTTP/1.1 200')
    expect(client.text).toEndWith('got hello')
    await stopped
  })

  test('answers it on a connection that has been served before, too', async () => {
    const { port, stopped } = listenUntilLast()
    const client = await dialRaw(port)
    client.socket.write('GET /app HTTP/1.1\r\nHost: a\r\n\r\n')
    await until('the first answer', () => client.text.endsWith('got '))
    client.socket.write(post('/last'))
    await until('the end', () => client.ended)
    expect(client.text).toEndWith('got hello')
    await stopped
  })
})

test.each([true, false])(
  'a request that comes while the server stops is answered, and ends its connection (fast path: %p)',
  async (fastPath) => {
    const port = findFreePort()
    const listener = listen(
      // Long, for slow machines: no test waits for its end.
      { host: '127.0.0.1', port, fastPath, stopGraceMs: 60_000 },
      {
        serve: { routes: {}, fetch: async (request) => new Response(`got ${await request.text()}`) },
        fastPath: { redirect: () => null, post: () => null },
        setConnectionMetrics() {},
      },
    )
    const client = await dialRaw(port)
    client.socket.write('GET /app HTTP/1.1\r\nHost: a\r\n\r\n')
    await until('the first answer', () => client.text.endsWith('got '))
    expect(client.text.toLowerCase()).not.toContain('connection: close')
    void listener.stop(false)
    client.socket.write('POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello')
    await until('the end', () => client.ended)
    expect(client.text).toEndWith('got hello')
    expect(client.text.toLowerCase()).toContain('connection: close')
    await listener.stop(true)
  },
)

test('a machine without IPv6 is served over IPv4, and a port in use is an error', () => {
  const tried: string[] = []
  const fail = (code: string) => (host: string) => {
    tried.push(host)
    if (host === '::') throw Object.assign(new Error('Failed to listen at ::'), { code })
    return host
  }
  expect(listenOnHost(undefined, fail('EAFNOSUPPORT'))).toBe('0.0.0.0')
  expect(() => listenOnHost(undefined, fail('EADDRINUSE'))).toThrow('Failed to listen')
  expect(listenOnHost('127.0.0.1', fail('EADDRINUSE'))).toBe('127.0.0.1')
  expect(tried).toEqual(['::', '0.0.0.0', '::', '127.0.0.1'])
})

test('the clicks are recorded alike', async () => {
  for (const groupBy of ['country', 'device', 'class', 'trigger']) {
    const [on, off] = await fromBoth(async ({ server, workspace }) => {
      await server.waitUntilShipped()
      const { json } = await workspace.api(`/analytics/clicks?class=all&groupBy=${groupBy}`)
      return json.data
    })
    expect([groupBy, off]).toEqual([groupBy, on])
    expect(on).not.toEqual([])
  }
})

test('the inner port answers everything, and counts clients as the balancer names them', async () => {
  const { server, workspace } = servers[0] as (typeof servers)[number]
  const inner = server.origin.replace(/\d+$/, INNER_PORT)
  const { slug } = await workspace.createLink({ destinationUrl: 'https://example.com/inner' })
  const { json } = await workspace.api('/forms', { method: 'POST', body: { name: 'Contact' } })
  const headers = { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': '203.0.113.50' }
  const send = async (origin: string) => {
    const body = JSON.stringify({ message: crypto.randomUUID() })
    const own = { ...headers, 'Content-Type': 'application/json' }
    return (await fetch(`${origin}/f/${json.data.formKey}`, { method: 'POST', headers: own, body })).status
  }
  const redirect = await fetch(`${inner}/${slug}`, { redirect: 'manual', headers })
  expect([redirect.status, redirect.headers.get('location')]).toEqual([302, 'https://example.com/inner'])
  expect((await fetch(`${inner}/v1/links`)).status).toBe(401)
  for (let n = 0; n < 10; n++) expect(await send(inner)).toBe(200)
  // One limit for both ports: the client is the same.
  expect([await send(inner), await send(server.origin)]).toEqual([429, 429])
})
