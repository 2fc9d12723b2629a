import { afterEach, describe, expect, test } from 'bun:test'
import net from 'node:net'
import tls from 'node:tls'
import { gzipSync } from 'node:zlib'
import { timeQuietly } from '../../tests/support/processor-time.ts'
import { type Network, parseNetwork } from '../lib/ip-network.ts'
import { type ResolveHost, type SafeRequest, safeRequest, verifySafeRequest } from './safe-request.ts'

const network = (text: string) => parseNetwork(text) as Network
const LOOPBACK = [network('127.0.0.0/8')]

const open: { close(): void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

/** Listens, notes what it was sent, and does with each connection what it is told to, once a request has begun. */
async function listener(act: (socket: net.Socket) => void = (socket) => socket.end(OK), host = '127.0.0.1') {
  const sockets: net.Socket[] = []
  const seen: string[] = []
  const server = net.createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => act(socket))
    socket.on('data', (data) => seen.push(data.toString('latin1')))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  open.push({
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
  const { port } = server.address() as net.AddressInfo
  return { port, seen, sockets, connections: () => sockets.length, sent: () => seen.join('') }
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

const to =
  (...addresses: string[]): ResolveHost =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

const ask = (url: string, more: Partial<SafeRequest> = {}) =>
  safeRequest({ url, allow: [], timeoutMs: 5000, ...more })

/** Asks a listener of ours, by a name, as if it were a public one. */
const askOurs = (port: number, more: Partial<SafeRequest> = {}) =>
  ask(`http://hook.test:${port}/path?q=1`, { allow: LOOPBACK, resolve: to('127.0.0.1'), ...more })

const HOSTS = `127.0.0.1 localhost LOCALHOST 127.1 127.0.1 0 0.0.0.0 2130706433 017700000001 0x7f.1 0x7f000001
  0177.0.0.1 127.0.0.1. %31%32%37.0.0.1 ①②⑦.⓪.⓪.① 127。0。0。1 [::1] [::] [0:0:0:0:0:0:0:1]
  [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1]
  [fd00:ec2::254] 10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1 100.100.100.200 168.63.129.16
  169.254.169.254 2852039166 224.0.0.1 255.255.255.255`.split(/\s+/)

describe('a request to an address that is not public', () => {
  test.each(HOSTS)('is refused, and nothing is sent: %s', async (host) => {
    const canary = await listener()
    for (const scheme of ['http', 'https']) {
      const result = await ask(`${scheme}://${host}:${canary.port}/`)
      expect(result).toMatchObject({ ok: false, reason: 'refused-address' })
    }
    expect(canary.connections()).toBe(0)
  })

  test('is refused for a name with a dot at its end', async () => {
    const canary = await listener()
    const result = await ask(`http://localhost.:${canary.port}/`)
    expect(result.ok ? result.status : result.reason).toBeOneOf(['refused-address', 'dns'])
    expect(canary.connections()).toBe(0)
  })

  test('is refused on IPv6 too', async () => {
    const canary = await listener(undefined, '::')
    for (const host of ['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::127.0.0.1]', 'name.test']) {
      const result = await ask(`http://${host}:${canary.port}/`, { resolve: to('::1') })
      expect(result).toMatchObject({ ok: false, reason: 'refused-address' })
    }
    expect(canary.connections()).toBe(0)
  })

  const ANSWERS = [
    ['127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['169.254.169.254'],
    ['1.1.1.1', '127.0.0.1'],
    ['127.0.0.1', '1.1.1.1'],
    ['2606:4700:4700::1111', '::1'],
    ['64:ff9b::7f00:1'],
    ['fe80::1%lo'],
    ['no address'],
  ]
  test.each(ANSWERS)('is refused when a name resolves to one: %s %s', async (...answer) => {
    const canary = await listener()
    for (const scheme of ['http', 'https']) {
      const result = await ask(`${scheme}://name.test:${canary.port}/`, {
        resolve: to(...answer.filter(Boolean)),
      })
      expect(result).toMatchObject({ ok: false, reason: 'refused-address' })
    }
    expect(canary.connections()).toBe(0)
  })

  test('is refused when the name resolves differently after the check (DNS rebinding)', async () => {
    const canary = await listener()
    const allow = [network('127.0.0.2')]
    const answers = ['127.0.0.2', '127.0.0.1', '127.0.0.1', '127.0.0.1']
    let asked = 0
    const resolve: ResolveHost = async () => [{ address: answers[asked++] ?? '127.0.0.1', family: 4 }]
    // Nobody listens on 127.0.0.2: a guard that asks the name again would reach the canary.
    const first = await ask(`http://rebind.test:${canary.port}/`, { resolve, allow })
    expect(first).toMatchObject({ ok: false, reason: 'connect' })
    expect(asked).toBe(1)
    const second = await ask(`http://rebind.test:${canary.port}/`, { resolve, allow })
    expect(second).toMatchObject({ ok: false, reason: 'refused-address' })
    expect(canary.connections()).toBe(0)
  })

  test('is not sent by following a redirect', async () => {
    const canary = await listener()
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `http://127.0.0.1:${canary.port}/`
      const hop = await listener((socket) =>
        socket.end(`HTTP/1.1 ${status} Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`),
      )
      const result = await askOurs(hop.port)
      if (!result.ok) throw new Error(result.message)
      expect(result.status).toBe(status)
      expect(result.headers.get('location')).toBe(location)
    }
    expect(canary.connections()).toBe(0)
  })

  test('is sent only to networks that the operator allows', async () => {
    const ours = await listener()
    const url = `http://127.0.0.1:${ours.port}/`
    expect(await ask(url, { allow: [network('127.0.0.1')] })).toMatchObject({ ok: true, status: 200 })
    expect(await ask(url, { allow: [network('10.0.0.0/8')] })).toMatchObject({ reason: 'refused-address' })
    expect(ours.connections()).toBe(1)
  })
})

const BAD_URLS = [
  '',
  'hook.test',
  '//hook.test/',
  'ftp://hook.test/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/html,x',
  'gopher://hook.test/',
  'unix:/var/run/docker.sock',
  'http://',
  'http://a b/',
  'http://256.1.1.1/',
  'http://1.2.3.4.5/',
  'http://[fe80::1%25eth0]/',
  'http://hook.test:99999/',
  'http://user@hook.test/',
  'http://:secret@hook.test/',
  'http://1.1.1.1@127.0.0.1/',
]

test.each(BAD_URLS)('refuses a URL that is no plain web address: %p', async (url) => {
  let asked = 0
  const resolve: ResolveHost = async () => [{ address: '127.0.0.1', family: 4 + 0 * asked++ }]
  expect(await ask(url, { allow: LOOPBACK, resolve })).toMatchObject({ ok: false, reason: 'bad-url' })
  expect(asked).toBe(0)
})

describe('a request', () => {
  test('has the given headers and body, accepts no compression, and keeps no connection', async () => {
    const ours = await listener()
    const headers = {
      'Content-Type': 'application/json',
      'X-Own': 'yes',
      Host: 'evil.test',
      'Accept-Encoding': 'gzip',
    }
    const result = await askOurs(ours.port, { method: 'POST', headers, body: '{"name":"ü"}' })
    expect(result).toMatchObject({ ok: true, status: 200, cut: undefined })
    expect(ours.sent()).toStartWith('POST /path?q=1 HTTP/1.1\r\n')
    for (const line of [
      `host: hook.test:${ours.port}`,
      'content-type: application/json',
      'x-own: yes',
      'accept-encoding: identity',
      'connection: close',
      'user-agent: towpath',
      'content-length: 13',
    ]) {
      expect(ours.sent().toLowerCase()).toContain(`\r\n${line}\r\n`)
    }
    expect(ours.sent()).not.toContain('evil.test')
    await askOurs(ours.port)
    expect(ours.connections()).toBe(2)
  })

  test('returns the answer as it came: status, every header, body', async () => {
    const ours = await listener((socket) =>
      socket.end('HTTP/1.1 418 No\r\nX-A: 1\r\nX-A: 2\r\nX-L: \xe9\r\n\r\nno tea'.concat(), 'latin1'),
    )
    const result = await askOurs(ours.port)
    if (!result.ok) throw new Error(result.message)
    expect(result.status).toBe(418)
    expect(result.headers.get('x-a')).toBe('1, 2')
    expect(result.headers.get('x-l')).toBe('é')
    expect(Buffer.from(result.body).toString()).toBe('no tea')
  })

  test('tries every address of the name', async () => {
    const ours = await listener()
    const result = await askOurs(ours.port, { resolve: to('127.0.0.9', '127.0.0.1') })
    expect(result).toMatchObject({ ok: true, status: 200 })
  })
})

/** Writes for as long as the other end listens. */
const flood = (head: string, chunk: string) => (socket: net.Socket) => {
  const pour = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', pour)
  socket.write(head)
  pour()
}

describe('an answer', () => {
  test('of 10 MB is cut at 64 KB, and the connection is closed', async () => {
    const ours = await listener((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n${'x'.repeat(10_000_000)}`)
    })
    const result = await askOurs(ours.port)
    if (!result.ok) throw new Error(result.message)
    expect(result).toMatchObject({ status: 200, cut: 'size' })
    expect(result.body.byteLength).toBe(65_536)
  })

  test.each([
    ['a body without end', flood('HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(1000))],
    [
      'chunks without end',
      flood('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'.repeat(500)),
    ],
  ])('of %s is cut', async (_, act) => {
    const ours = await listener(act)
    const result = await askOurs(ours.port, { maxBytes: 1000 })
    if (!result.ok) throw new Error(result.message)
    expect(result).toMatchObject({ status: 200, cut: 'size' })
    expect(result.body.byteLength).toBe(1000)
  })

  test('of exactly the allowed size is whole', async () => {
    const ours = await listener()
    expect(await askOurs(ours.port, { maxBytes: 2 })).toMatchObject({ ok: true, cut: undefined })
    expect(await askOurs(ours.port, { maxBytes: 1 })).toMatchObject({ ok: true, cut: 'size' })
  })

  test('that is compressed without being asked stays compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.byteLength}\r\n\r\n`
    const ours = await listener((socket) => socket.end(Buffer.concat([Buffer.from(head), bomb])))
    const result = await askOurs(ours.port)
    if (!result.ok) throw new Error(result.message)
    expect(Buffer.from(result.body)).toEqual(bomb)
    expect(result.headers.get('content-encoding')).toBe('gzip')
  })

  test('that breaks off is returned as far as it came', async () => {
    const ours = await listener((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'))
    const result = await askOurs(ours.port)
    if (!result.ok) throw new Error(result.message)
    expect(result.cut).toBe('broken')
    expect(Buffer.from(result.body).toString()).toBe('half')
  })

  test('with endless headers is refused', async () => {
    const ours = await listener(flood('HTTP/1.1 200 OK\r\n', `X-Long: ${'x'.repeat(1000)}\r\n`))
    expect(await askOurs(ours.port)).toMatchObject({ ok: false, reason: 'broken-answer' })
  })
})

describe('a slow server', () => {
  const drip = (head: string) => (socket: net.Socket) => {
    socket.write(head)
    const timer = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => clearInterval(timer))
  }
  test.each([
    ['says nothing', () => {}],
    ['drips the status line', drip('HTTP/1.1 200 ')],
    ['drips headers', drip('HTTP/1.1 200 OK\r\nX-')],
    ['says to go on, for ever', flood('', 'HTTP/1.1 100 Continue\r\n\r\n')],
  ])('is dropped after the time limit: %s', async (_, act) => {
    const ours = await listener(act)
    const [answer, ms] = await timeQuietly(() => askOurs(ours.port, { timeoutMs: 150 }))
    expect(answer).toMatchObject({ ok: false, reason: 'timeout' })
    expect(ms).toBeLessThan(5_000)
  })

  test('is dropped after the time limit, with the body so far: slow body', async () => {
    const ours = await listener(drip('HTTP/1.1 200 OK\r\n\r\nbegun'))
    const result = await askOurs(ours.port, { timeoutMs: 150 })
    if (!result.ok) throw new Error(result.message)
    expect(result.cut).toBe('time')
    expect(Buffer.from(result.body).toString()).toStartWith('begun')
  })

  test('is dropped after the time limit: name look-up without an answer', async () => {
    const resolve: ResolveHost = () => new Promise(() => {})
    expect(await ask('http://slow.test/', { resolve, timeoutMs: 100 })).toMatchObject({ reason: 'timeout' })
  })

  test('is dropped after the time limit: TLS that never starts', async () => {
    const ours = await listener(() => {})
    const url = `https://hook.test:${ours.port}/`
    const result = await ask(url, { allow: LOOPBACK, resolve: to('127.0.0.1'), timeoutMs: 150 })
    expect(result).toMatchObject({ ok: false, reason: 'timeout' })
  })
})

describe('reasons of failures', () => {
  test.each([
    ['closed at once', (socket: net.Socket) => socket.end(), 'connect'],
    ['reset', (socket: net.Socket) => socket.resetAndDestroy(), 'connect'],
    ['no HTTP', (socket: net.Socket) => socket.end('SSH-2.0-OpenSSH\r\n'), 'broken-answer'],
    [
      'another protocol',
      (socket: net.Socket) => socket.write('HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      'connect',
    ],
  ])('%s', async (_, act, reason) => {
    const ours = await listener(act as never)
    expect(await askOurs(ours.port)).toMatchObject({ ok: false, reason })
  })

  test('no server listens', async () => {
    const { port, sockets } = await listener()
    for (const one of open.splice(0)) one.close()
    expect(await askOurs(port)).toMatchObject({ ok: false, reason: 'connect' })
    expect(sockets).toHaveLength(0)
  })

  test('a name without addresses, and a failed look-up', async () => {
    expect(await ask('http://none.test/', { resolve: async () => [] })).toMatchObject({ reason: 'dns' })
    const resolve = () => Promise.reject(new Error('SERVFAIL'))
    expect(await ask('https://none.test/', { resolve })).toMatchObject({ ok: false, reason: 'dns' })
    expect(await ask('http://does-not-exist.invalid/')).toMatchObject({ ok: false, reason: 'dns' })
  })

  test('an untrusted certificate, and a server without TLS', async () => {
    const server = tls.createServer({ key: KEY, cert: CERTIFICATE }, (socket) => socket.end(OK))
    server.on('tlsClientError', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push(server)
    const { port } = server.address() as net.AddressInfo
    const plain = await listener((socket) => socket.end(OK))
    // An environment variable that turns certificate checks off has no effect here.
    const before = Bun.env.NODE_TLS_REJECT_UNAUTHORIZED
    Bun.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    for (const each of [port, plain.port]) {
      const url = `https://hook.test:${each}/`
      const result = await ask(url, { allow: LOOPBACK, resolve: to('127.0.0.1') })
      expect(result).toMatchObject({ ok: false, reason: 'tls' })
    }
    if (before === undefined) delete Bun.env.NODE_TLS_REJECT_UNAUTHORIZED
    else Bun.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  })
})

test('ignores the proxy that the environment names', async () => {
  const proxy = await listener((socket) => socket.end('HTTP/1.1 502 Proxy\r\nContent-Length: 0\r\n\r\n'))
  const ours = await listener()
  const url = `http://hook.test:${ours.port}/`
  const script = `
    import { safeRequest } from '${import.meta.dir}/safe-request.ts'
    import { parseNetwork } from '${import.meta.dir}/../lib/ip-network.ts'
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const result = await safeRequest({ url: '${url}', allow: [parseNetwork('127.0.0.1')], resolve })
    const other = await fetch('${url}')
    process.stdout.write(result.status + ' ' + other.status)`
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  const env = Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${proxy.port}`]))
  const child = Bun.spawn([process.execPath, '-e', script], {
    env: { ...Bun.env, ...env, NODE_USE_ENV_PROXY: '1', NO_PROXY: '' },
  })
  // The second number shows that the proxy is there to be asked.
  expect(await new Response(child.stdout).text()).toBe('200 502')
  expect(proxy.connections()).toBe(1)
})

describe('the self-test at the start', () => {
  test('passes on this runtime', async () => {
    await verifySafeRequest()
  })

  test('fails when private addresses can be reached', async () => {
    const careless = (asked: SafeRequest) => safeRequest({ ...asked, allow: LOOPBACK })
    await expect(verifySafeRequest(careless)).rejects.toThrow('not refused by this runtime')
  })

  test('fails when the runtime resolves names by itself', async () => {
    const deaf = (asked: SafeRequest) => safeRequest({ ...asked, resolve: undefined })
    await expect(verifySafeRequest(deaf)).rejects.toThrow('not refused by this runtime')
  })

  test('fails when no address can be reached', async () => {
    const shut = (asked: SafeRequest) => safeRequest({ ...asked, allow: [] })
    await expect(verifySafeRequest(shut)).rejects.toThrow('not used by this runtime')
  })
})

// Made for this file: nobody vouches for it, and nobody uses its key.
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVohJFdi0ytpKskHs
R3xBcy5XU9hCv/yVajA5ZHRJzRGhRANCAASaR7I/NAc/ERord+wP7bLAfK0pWHm7
GeNMaN6vR4meWt0eYJnYyz+jbI34i/uCFdz7SbUKceZBoZjAiC3Fnx2C
-----END PRIVATE KEY-----`
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBpTCCAUygAwIBAgIUacIpk/apyTsJ+bIDBUv/PVSQrA8wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTExMTYzOFoYDzIxMjYxMDI4
MTExNjM4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASaR7I/NAc/ERord+wP7bLAfK0pWHm7GeNMaN6vR4meWt0eYJnYyz+j
bI34i/uCFdz7SbUKceZBoZjAiC3Fnx2Co3oweDAdBgNVHQ4EFgQUh/HwDdUXqvPg
q3v4zhnEL/hWgJUwHwYDVR0jBBgwFoAUh/HwDdUXqvPgq3v4zhnEL/hWgJUwDwYD
VR0TAQH/BAUwAwEB/zAlBgNVHREEHjAcgglsb2NhbGhvc3SCCWhvb2sudGVzdIcE
fwAAATAKBggqhkjOPQQDAgNHADBEAiB1kgmPzQZ969y8TFUL+rM61QeOySuRdAZC
dAYquLS6AQIgIQz88Iy48+zvkFR/CmwK97ic2N8o/woYYyfa9jqCx9k=
-----END CERTIFICATE-----`
