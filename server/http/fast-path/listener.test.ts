import { afterAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { findFreePort } from '../../../tests/support/processes/free-port.ts'
import { until } from '../../../tests/support/until.ts'
import { type FastPath, type FastPathOptions, openFastPath } from './listener.ts'

const BIG = Buffer.alloc(24 * 1024 * 1024, 'abcdefgh')
const seen: { address: string | undefined; aborted: boolean; path: string; body: number }[] = []
const redirects: string[] = []

const behind = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 120,
  async fetch(request, server) {
    const { pathname } = new URL(request.url)
    const entry = {
      address: front.findPeerAddress(server.requestIP(request)?.port ?? 0),
      aborted: false,
      path: pathname,
      body: 0,
    }
    seen.push(entry)
    request.signal.addEventListener('abort', () => {
      entry.aborted = true
    })
    if (pathname === '/big') return new Response(BIG)
    if (pathname === '/never') return new Promise<Response>(() => {})
    entry.body = (await request.arrayBuffer()).byteLength
    return new Response(`${request.method} ${pathname} ${entry.body}`)
  },
})
const port = findFreePort()
const front: FastPath = openFastPath({
  hostname: '127.0.0.1',
  port,
  behind: { hostname: '127.0.0.1', port: behind.port as number },
  redirect({ path, headers }, address) {
    if (!path.startsWith('known')) return null
    redirects.push(`${path} ${address} ${headers.get('user-agent')}`)
    return { status: path === 'known308' ? 308 : 302, location: `https://example.com/${path}` }
  },
  post: ({ path, body }, address) =>
    path === 'told' ? { status: 200, headers: 'X-Way: front\r\n', body: `${address} ${body()}` } : null,
  // A slow machine may take seconds between a client's connection and its request.
  idleSeconds: 60,
})
const sockets: Socket[] = []
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  front.stop()
  await behind.stop(true)
})

/** Another fast path before the same server, which passes everything on where the options do not say otherwise. */
function openAnother(options: Partial<FastPathOptions> = {}) {
  const at = findFreePort()
  const opened = openFastPath({
    hostname: '127.0.0.1',
    port: at,
    behind: { hostname: '127.0.0.1', port: behind.port as number },
    redirect: () => null,
    idleSeconds: 10,
    ...options,
  })
  return { at, opened }
}

/** A connection of its own, and all that came over it. */
async function dial(to = port) {
  const socket = connect(to, '127.0.0.1')
  sockets.push(socket)
  const state = { socket, text: '', bytes: 0, ended: false }
  socket.on('data', (chunk) => {
    state.bytes += chunk.length
    if (state.bytes < 100_000) state.text += chunk.toString('latin1')
  })
  socket.on('close', () => {
    state.ended = true
  })
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  return state
}

/** @throws where nobody listens */
async function connectOnce(to: number) {
  const socket = connect(to, '127.0.0.1')
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  socket.destroy()
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\nUser-Agent: Test\r\n${more}\r\n`
const heads = (text: string) =>
  text
    .split('HTTP/1.1 ')
    .slice(1)
    .map((each) => each.slice(0, 3))

test('a plain redirect is answered at once, one after the other over one connection', async () => {
  const client = await dial()
  for (const [i, path] of ['/known', '/known308', '/known?a=b'].entries()) {
    client.socket.write(get(path))
    await until('its answer', () => heads(client.text).length === i + 1)
  }
  expect(heads(client.text)).toEqual(['302', '308', '302'])
  expect(client.text).toMatch(
    /^HTTP\/1\.1 302 Found\r\nLocation: https:\/\/example\.com\/known\r\nCache-Control: private, no-store\r\nX-Robots-Tag: noindex\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\nContent-Length: 0\r\n\r\nHTTP/,
  )
  expect(redirects.slice(-1)).toEqual(['known 127.0.0.1 Test'])
  expect(client.ended).toBe(false)
})

test('it ends the connection where the client asked for that', async () => {
  const client = await dial()
  client.socket.write(get('/known', 'Connection: close\r\n'))
  await until('the end', () => client.ended)
  expect(client.text).toContain('\r\nConnection: close\r\n')
})

test('a plain POST that is wanted is answered at once, and another one after it on the same connection', async () => {
  const before = seen.length
  const client = await dial()
  for (const body of ['abc', '', 'd']) {
    client.text = ''
    client.socket.write(`POST /told HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    await until('its answer', () => client.text.endsWith(`\r\n\r\n127.0.0.1 ${body}`))
    expect(client.text).toStartWith('HTTP/1.1 200 OK\r\nX-Way: front\r\nDate: ')
    expect(client.text).toContain(`Content-Length: ${10 + body.length}\r\n`)
  }
  client.socket.write('POST /told HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nConnection: close\r\n\r\ne')
  await until('its end', () => client.ended)
  expect(seen).toHaveLength(before)
})

test('a POST whose body comes later goes to the server behind', async () => {
  const client = await dial()
  client.socket.write('POST /told HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n')
  await until('it is passed on', () => seen.at(-1)?.path === '/told')
  client.socket.write('abc')
  await until('its answer', () => client.text.endsWith('POST /told 3'))
})

test('a large upload arrives whole, and a large answer at whatever speed it is read', async () => {
  const size = 8 * 1024 * 1024
  const uploading = await dial()
  uploading.socket.write(`POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
  uploading.socket.write(Buffer.alloc(size, 'x'))
  await until('its answer', () => uploading.text.endsWith(`POST /up ${size}`))

  const client = await dial()
  client.socket.pause()
  client.socket.write(get('/big'))
  await until('the request', () => seen.at(-1)?.path === '/big')
  let read = 0
  const memory = process.memoryUsage.rss()
  client.socket.removeAllListeners('data')
  const hash = new Bun.CryptoHasher('sha256')
  let head = ''
  client.socket.on('data', (chunk: Buffer) => {
    if (read === 0) {
      const start = chunk.indexOf('\r\n\r\n') + 4
      head = chunk.subarray(0, start).toString()
      hash.update(chunk.subarray(start))
      read += chunk.length - start
    } else {
      hash.update(chunk)
      read += chunk.length
    }
    client.socket.pause()
    setImmediate(() => client.socket.resume())
  })
  client.socket.resume()
  await until('the whole answer', () => read >= BIG.length)
  expect(head).toContain(`Content-Length: ${BIG.length}`)
  expect(hash.digest('hex')).toBe(new Bun.CryptoHasher('sha256').update(BIG).digest('hex'))
  expect(process.memoryUsage.rss() - memory).toBeLessThan(3 * BIG.length)
})

test('who goes away is gone for the server behind as well', async () => {
  const { at, opened: impatient } = openAnother({ progressMs: 1_000 })
  const find = () => seen.findLast(({ path }) => path === '/never')
  const client = await dial(at)
  client.socket.write(get('/never'))
  await until('the request', find)
  client.socket.destroy()
  await until('the abort', () => find()?.aborted)
  impatient.stop()
})

test('who says nothing is let go', async () => {
  const { at, opened: impatient } = openAnother({
    redirect: () => ({ status: 302, location: 'https://example.com/' }),
    idleSeconds: 1,
  })
  const ask = async () => {
    const client = await dial(at)
    client.socket.write(get('/known'))
    return client
  }
  const silent = await dial(at)
  let answered = await ask()
  await until('both ends', async () => {
    // On a slow machine, a second may pass before the request is read.
    if (answered.ended && answered.text === '') answered = await ask()
    return silent.ended && answered.ended
  })
  expect(heads(answered.text)).toEqual(['302'])
  impatient.stop()
}, 120_000)

test('where nothing is behind, the client is let go', async () => {
  const { at, opened: lonely } = openAnother({
    behind: { hostname: '127.0.0.1', port: findFreePort() },
    idleSeconds: 1,
  })
  const client = await dial(at)
  client.socket.write(get('/x'))
  await until('the end', () => client.ended)
  lonely.stop()
})

test('stopping ends those who wait, and lets those who are served finish', async () => {
  const { at, opened: stopping } = openAnother()
  const waiting = await dial(at)
  const served = await dial(at)
  served.socket.write(`POST /half HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na`)
  await until('its connection', () => seen.at(-1)?.path === '/half')
  const stopped = stopping.stop()
  await until('the end of who waits', () => waiting.ended)
  served.socket.write('bc')
  await until('the answer', () => served.text.endsWith('POST /half 3'))
  await stopped
  // Another request would find nobody.
  await until('the end of who was served', () => served.ended)
  await expect(connectOnce(at)).rejects.toThrow('ECONNREFUSED')
})

test('a request that is on its way when it stops is answered, and told that it is the last one', async () => {
  const { at, opened: stopping } = openAnother({
    redirect: ({ path }) =>
      path.startsWith('known') ? { status: 302, location: 'https://example.com/' } : null,
    post: ({ path }) => (path === 'told' ? { status: 200, headers: '', body: 'heard' } : null),
    idleSeconds: 60,
    // The stop waits for no longer than the clients need.
    stopGraceMs: 60_000,
  })
  const [redirected, told, passedOn] = [await dial(at), await dial(at), await dial(at)]
  for (const client of [redirected, told, passedOn]) {
    client.socket.write(get('/known'))
    await until('the first answer', () => client.text.endsWith('\r\n\r\n'))
    expect(client.text.toLowerCase()).not.toContain('connection: close')
    client.text = ''
  }
  const stopped = stopping.stop()
  redirected.socket.write(get('/known'))
  told.socket.write('POST /told HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx')
  passedOn.socket.write('POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx')
  await until('the answer of the server behind, which does not stop', () =>
    passedOn.text.endsWith('POST /late 1'),
  )
  passedOn.socket.end()
  for (const client of [redirected, told]) await until('the end', () => client.ended)
  expect(redirected.text).toStartWith('HTTP/1.1 302')
  expect(told.text).toEndWith('heard')
  for (const { text } of [redirected, told]) expect(text.toLowerCase()).toContain('connection: close')
  await stopped
})

describe('stopping beside a server that does not answer', () => {
  let asked = 0
  const silent = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 255,
    fetch() {
      asked++
      return new Promise<Response>(() => {})
    },
  })
  afterAll(() => silent.stop(true))

  /** The fast path before the server, and a client that has sent this text. */
  async function openAfter(sent: string) {
    const { at, opened: stopping } = openAnother({
      behind: { hostname: '127.0.0.1', port: silent.port as number },
    })
    const client = await dial(at)
    client.socket.write(sent)
    await until('its connection', () => stopping.counts().relayed === 1)
    return { at, stopping, client }
  }

  test('waits for the answer of a request until its client is gone', async () => {
    const { at, stopping, client } = await openAfter(get('/never'))
    await until('the request', () => asked === 1)
    const stopped = stopping.stop()
    await until('the listener to be closed', () =>
      connectOnce(at).then(
        () => false,
        () => true,
      ),
    )
    expect(Bun.peek.status(stopped)).toBe('pending')
    client.socket.resetAndDestroy()
    await stopped
  })

  test('does not wait for a part of a head, which may never be a request', async () => {
    const { stopping, client } = await openAfter('GET /half HTTP/1.1\r\nHo')
    const stopped = stopping.stop()
    await new Promise((resolve) => setImmediate(resolve))
    expect(Bun.peek.status(stopped)).toBe('fulfilled')
    client.socket.destroy()
  })
})

describe('an answer that comes later', () => {
  /** A fast path whose answers come when the test says so, in the order of their requests. */
  function openLate(options: Partial<FastPathOptions> = {}) {
    const waiting: (() => void)[] = []
    const post: FastPathOptions['post'] = ({ path, keep }) => {
      const { headers, body } = keep()
      return new Promise((resolve) => {
        const answered = `${path} ${headers.get('user-agent')} ${body}`
        waiting.push(() => resolve({ status: 200, headers: '', body: answered }))
      })
    }
    return { ...openAnother({ post, ...options }), waiting }
  }
  const tell = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nUser-Agent: Test\r\nContent-Length: ${body.length}\r\n\r\n${body}`

  test('keeps what was sent, though other requests are read meanwhile', async () => {
    const { at, opened, waiting } = openLate()
    const [one, other] = [await dial(at), await dial(at)]
    one.socket.write(tell('/one', 'a=1'))
    await until('the first request', () => waiting.length === 1)
    other.socket.write(tell('/other', 'b=%C3%A9'))
    await until('the second request', () => waiting.length === 2)
    for (const answer of waiting.reverse()) answer()
    await until('both answers', () => one.text.includes('a=1') && other.text.includes('b='))
    expect(one.text).toEndWith('\r\nContent-Length: 12\r\n\r\none Test a=1')
    expect(other.text).toEndWith('other Test b=%C3%A9')
    await opened.stop(true)
  })

  test('comes before the answer to what the client has sent since', async () => {
    const { at, opened, waiting } = openLate()
    const client = await dial(at)
    client.socket.write(tell('/first', '1'))
    await until('the first request', () => waiting.length === 1)
    client.socket.write(tell('/second', '2'))
    client.socket.write(get('/behind'))
    waiting[0]?.()
    await until('the second request', () => waiting.length === 2 || client.text.includes('GET /behind'))
    waiting[1]?.()
    await until('all answers', () => client.text.includes('/behind'))
    expect(client.text).toMatch(/first Test 1[\s\S]*(?:second Test 2|POST \/second 1)[\s\S]*GET \/behind 0$/)
    await opened.stop(true)
  })

  test('reaches a client that sends no more, and ends its connection', async () => {
    const { at, opened, waiting } = openLate()
    const client = await dial(at)
    client.socket.end(tell('/last', 'x'))
    await until('the request', () => waiting.length === 1)
    waiting[0]?.()
    await until('the end', () => client.ended)
    expect(client.text).toContain('last Test x')
    await opened.stop(true)
  })

  test('is waited for by an orderly end, and is the last one of its connection', async () => {
    const { at, opened, waiting } = openLate({ stopGraceMs: 0 })
    const client = await dial(at)
    client.socket.write(tell('/slow', 'x'))
    await until('the request', () => waiting.length === 1)
    let stopped = false
    const stop = opened.stop().then(() => {
      stopped = true
    })
    await until('no new connection', () =>
      connectOnce(at).then(
        () => false,
        () => true,
      ),
    )
    expect(stopped).toBe(false)
    waiting[0]?.()
    await stop
    await until('the end', () => client.ended)
    expect(client.text).toMatch(/\r\nConnection: close\r\n[\s\S]*slow Test x$/)
  })

  test('goes nowhere where the client is gone, and the next client is answered', async () => {
    const { at, opened, waiting } = openLate()
    const gone = await dial(at)
    gone.socket.write(tell('/gone', 'x'))
    await until('the request', () => waiting.length === 1)
    gone.socket.resetAndDestroy()
    await until('no connection', () => opened.counts().open === 0)
    waiting[0]?.()
    const client = await dial(at)
    client.socket.write(tell('/next', 'y'))
    await until('the next request', () => waiting.length === 2)
    waiting[1]?.()
    await until('its answer', () => client.text.includes('next Test y'))
    await opened.stop(true)
  })
})
