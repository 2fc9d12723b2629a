// The host of a request decides what answers: with the fast path and without it, and behind proxies.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { destroyRawClients, dialRaw } from '../../../../tests/support/raw-client.ts'
import { addVerifiedDomain, putLinkOnDomain } from '../../../../tests/support/server/verified-domain.ts'
import { until } from '../../../../tests/support/until.ts'
import { startServer, type TestServer } from '../../../../tests/support/world.ts'
import { createDomainRoutes } from './public.ts'

const OWN = 'acme.example'
const servers: TestServer[] = []
beforeAll(async () => {
  for (const FAST_PATH of ['on', 'off']) {
    const environment = {
      FAST_PATH,
      TOWPATH_URL: 'https://go.example',
      TOWPATH_ALIASES: 'old.example, go.münchen.example',
      TRUST_PROXY: '127.0.0.2',
    }
    const server = await startServer('sqlite', { environment })
    servers.push(server)
    const ws = await server.createWorkspace()
    await addVerifiedDomain(server, ws.id, OWN, { asset_links: '[{"a":1}]' })
    await ws.createLink({ slug: 'x', destinationUrl: 'https://example.com/default' })
    await putLinkOnDomain(server, ws, OWN, { slug: 'x', destinationUrl: 'https://example.com/own' })
    await putLinkOnDomain(server, ws, OWN, { slug: 'x/y', destinationUrl: 'https://example.com/deep' })
  }
}, 60_000)
afterAll(async () => {
  destroyRawClients()
  for (const server of servers) await server.close()
})

/** @returns the text of the answer of each of the two servers, which must not differ in what a visitor sees */
async function send(head: string, from = '127.0.0.1'): Promise<string> {
  const answers = await Promise.all(
    servers.map(async (server) => {
      const client = await dialRaw(Number(new URL(server.origin).port), { from })
      client.socket.write(`${head}Connection: close\r\n\r\n`)
      await until('the end', () => client.ended)
      return client.text
    }),
  )
  expect(summarize(answers[1] as string)).toEqual(summarize(answers[0] as string))
  return answers[0] as string
}

function summarize(answer: string) {
  const location = /^location: (.*)\r$/im.exec(answer)?.[1]
  return [Number(answer.slice(9, 12)), location?.replace('https://example.com/', '')]
}

const ask = async (path: string, lines: string, from?: string) =>
  summarize(await send(`GET ${path} HTTP/1.1\r\nUser-Agent: Mozilla/5.0 Safari\r\n${lines}`, from))

const UNKNOWN = [404, undefined]

test.each(['go.example', 'old.example', 'go.münchen.example', 'go.xn--mnchen-3ya.example'])(
  'a link is found by its short URL on %s',
  async (host) => {
    const server = servers[0] as TestServer
    const ws = await server.createWorkspace()
    const slug = `on-${host.length}`
    const link = await ws.createLink({ slug })
    for (const text of [`https://${host}/${slug}`, `https://${host.toUpperCase()}./${slug}.?a=b`]) {
      const { json } = await ws.api(`/links?search=${encodeURIComponent(text)}`)
      expect([text, json.data.map(({ id }: { id: number }) => id)]).toEqual([text, [link.id]])
    }
  },
)

test.each([
  ['the host of TOWPATH_URL', 'go.example'],
  ['another port of it', 'GO.example.:8443'],
  ['an alias', 'old.example'],
  ['an alias outside ASCII', 'go.xn--mnchen-3ya.example'],
  ['this machine', '127.0.0.1:3000'],
  ['an address of a network', '192.168.0.7'],
  ['IPv6', '[fd00::1]:3000'],
  ['an address as a number', '2130706433'],
  ['an address in three parts', '127.0.1'],
  ['an address in hexadecimal', '0x7f.0.0.0x1'],
  ['a name without a dot', 'towpath:3000'],
  ['nothing', ''],
])('the default domain answers %s: %s', async (_, host) => {
  // The second time, memory answers.
  for (const __ of [1, 2]) expect(await ask('/x', `Host: ${host}\r\n`)).toEqual([302, 'default'])
})

test('the default domain answers a client of HTTP/1.0 without a host', async () => {
  expect(summarize(await send('GET /x HTTP/1.0\r\n'))).toEqual([302, 'default'])
})

test('the names of the operator come before the domains of workspaces', async () => {
  for (const server of servers)
    await addVerifiedDomain(server, (await server.createWorkspace()).id, 'old.example')
  expect(await ask('/x', 'Host: old.example\r\n')).toEqual([302, 'default'])
})

test('a domain of a workspace answers its links, of several segments too', async () => {
  for (const __ of [1, 2]) {
    expect(await ask('/x', `Host: ${OWN}\r\n`)).toEqual([302, 'own'])
    expect(await ask('/x/y', `Host: ${OWN}:80\r\n`)).toEqual([302, 'deep'])
  }
})

test.each([
  ['another name', 'evil.example'],
  ['a name below', `www.${OWN}`],
  ['a name that ends alike', `not${OWN}`],
  ['a name that begins alike', `${OWN}.evil.example`],
  ['a name below the default domain', 'www.go.example'],
  ['an address with a name behind it', '127.0.0.1.nip.example'],
])('%s has nothing: %s', async (_, host) => {
  for (const path of `/x /unknown / /app /v1/links /api/auth/options /livez /t.js /e/forms?keys=a /f/a /robots.txt
    /tls/ask?domain=go.example /docs /metrics /a/b/c`.split(/\s+/)) {
    const answer = await send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\n`)
    expect([path, ...summarize(answer), /<h1>(.*)<\/h1>/.exec(answer)?.[1]]).toEqual([
      path,
      ...UNKNOWN,
      'Unknown domain',
    ])
    expect(answer).not.toMatch(/^set-cookie/im)
    expect(answer).not.toContain('go.example')
  }
  const json = await send(`GET /x HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\n`)
  expect(json.split('\r\n\r\n')[1]).toContain('{"error":"Unknown domain"}')
  expect(summarize(await send(`POST /e HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n`))).toEqual(UNKNOWN)
})

test('nothing is counted for a name that nobody has verified', async () => {
  const readCounts = async () => {
    const counts = servers.map(async ({ app }) => {
      await app.misses.flush()
      const rows = await app.db.read.selectFrom('misses').select('hits').execute()
      return [app.spool.stats().appended, rows.reduce((sum, { hits }) => sum + hits, 0)]
    })
    return Promise.all(counts)
  }
  const before = await readCounts()
  for (const path of ['/x', '/unknown']) await ask(path, 'Host: evil.example\r\n')
  expect(await readCounts()).toEqual(before)
})

test.each([
  'a b',
  'a@b',
  '"><svg>',
  'a/b',
  '[',
  '[::1',
  'a:b',
  'a:999999',
  '-',
  `${'a'.repeat(300)}.example`,
  'caf\u00e9.example',
  'go.example/..',
])('what is no host is refused: %j', async (host) => {
  expect(await ask('/x', `Host: ${host}\r\n`)).toEqual([400, undefined])
  expect(await ask('/x', `Host: go.example\r\nX-Forwarded-Host: ${host}\r\n`, '127.0.0.2')).toEqual([
    400,
    undefined,
  ])
})

test('X-Forwarded-Host decides where a proxy of TRUST_PROXY sends it, and its first value counts', async () => {
  for (const __ of [1, 2]) {
    const forwarded = (value: string, host = 'go.example') =>
      `Host: ${host}\r\nX-Forwarded-Host: ${value}\r\n`
    const proxy = '127.0.0.2'
    expect(await ask('/x', forwarded(OWN), proxy)).toEqual([302, 'own'])
    expect(await ask('/x', forwarded(`${OWN}:443 , go.example`, 'towpath:3000'), proxy)).toEqual([302, 'own'])
    expect(await ask('/x', forwarded('evil.example', OWN), proxy)).toEqual(UNKNOWN)
    expect(await ask('/x', forwarded('', OWN), proxy)).toEqual([302, 'own'])
    // Anybody can send the header.
    expect(await ask('/x', forwarded(OWN))).toEqual([302, 'default'])
    expect(await ask('/x', forwarded('go.example', 'evil.example'))).toEqual(UNKNOWN)
  }
})

const readStatus = async (path: string) => (await ask(path, `Host: ${OWN}\r\n`))[0]

test('a path that is written with steps does not lead from a domain of a workspace to the pages of the server', async () => {
  const pages = `livez readyz version metrics app v1/openapi.json docs api/auth/options
    tls/ask?domain=go.example`.split(/\s+/)
  for (const page of pages)
    for (const start of [
      '',
      'x/../',
      '.well-known/../',
      'f/../',
      'e/../',
      'robots.txt/../',
      './',
      '/',
      '%2e%2e/',
      '.well-known/%2e%2e/',
    ])
      expect([start, page, await readStatus(`/${start}${page}`)]).toEqual([start, page, 404])
})

test('the files for apps are those of the domain, as JSON', async () => {
  const file = await send(`GET /.well-known/assetlinks.json HTTP/1.1\r\nHost: ${OWN}\r\n`)
  expect(file).toMatch(/^content-type: application\/json\r$/im)
  expect(file).toContain('[{"a":1}]')
  expect(await ask('/.well-known/apple-app-site-association', `Host: ${OWN}\r\n`)).toEqual(UNKNOWN)
  expect(await ask('/.well-known/assetlinks.json', 'Host: go.example\r\n')).toEqual(UNKNOWN)
})

test('every short domain lets crawlers read', async () => {
  for (const host of [OWN, 'go.example'])
    expect(await send(`GET /robots.txt HTTP/1.1\r\nHost: ${host}\r\n`)).toContain('User-agent: *\nAllow: /\n')
})

const mayHave = (name: string, lines = 'Host: 127.0.0.1:3000\r\n', from?: string) =>
  ask(`/tls/ask?domain=${name}`, lines, from).then(([status]) => status)

test('the web server in front learns which names may have a certificate', async () => {
  for (const name of [OWN, OWN.toUpperCase(), 'go.example', 'old.example'])
    expect([name, await mayHave(name)]).toEqual([name, 200])
  for (const name of [
    'evil.example',
    `www.${OWN}`,
    '127.0.0.1',
    'localhost',
    '',
    '%00',
    `${OWN}%20`,
    `${OWN}:443`,
    'a'.repeat(3000),
  ])
    expect([name, await mayHave(name)]).toEqual([name, 403])
  expect(await mayHave(OWN, 'Host: towpath:3000\r\n', '127.0.0.2')).toBe(200)
  expect((await ask('/tls/ask', 'Host: localhost\r\n'))[0]).toBe(403)
})

test('strangers do not learn that', async () => {
  const { site, domains } = (servers[0] as TestServer).app
  const routes = createDomainRoutes({ site, domains, trustProxy: [] })
  const request = new Request(`http://go.example/tls/ask?domain=${OWN}`)
  expect(routes.answerTlsAsk(request, { requestIP: () => ({ address: '198.51.100.7' }) })).toBeNull()
  expect(routes.answerTlsAsk(request, { requestIP: () => ({ address: '::1' }) })?.status).toBe(200)
  for (const line of [
    'X-Forwarded-For: 198.51.100.7',
    'X-Forwarded-Host: go.example',
    'Via: 1.1 proxy',
    'Forwarded: for=a',
  ]) {
    const answers = [OWN, 'evil.example'].map((name) => mayHave(name, `Host: go.example\r\n${line}\r\n`))
    expect(await Promise.all(answers)).toEqual([404, 404])
  }
})
