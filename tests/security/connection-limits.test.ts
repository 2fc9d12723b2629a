// The limits of connections: which one makes room at which limit, and which is refused.

import { afterAll, expect, test } from 'bun:test'
import { type FastPath, openFastPath } from '../../server/http/fast-path/listener.ts'
import { parseNetwork } from '../../server/lib/ip-network.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import {
  destroyRawClients,
  dialRaw,
  type RawClient,
  rawRequest,
  readStatuses,
} from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const pending: (() => void)[] = []
const behind = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 200,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/wait') await new Promise<void>((resolve) => pending.push(resolve))
    return new Response(`${request.method} ${pathname} ${(await request.text()).length}`)
  },
})
const opened: FastPath[] = []
afterAll(async () => {
  for (const release of pending) release()
  destroyRawClients()
  for (const front of opened) front.stop()
  await behind.stop(true)
})

const LIMITS = { total: 8, perAddress: 4, relayed: 4, relayedPerAddress: 2 }

function open({ trusted = '', progressMs = 60_000 } = {}) {
  const port = findFreePort()
  const network = parseNetwork(trusted)
  const front = openFastPath({
    hostname: '127.0.0.1',
    port,
    behind: { hostname: '127.0.0.1', port: behind.port as number },
    redirect: ({ path }) => (path === 'known' ? { status: 302, location: 'https://example.com/' } : null),
    idleSeconds: 200,
    progressMs,
    limits: LIMITS,
    trusted: network ? [network] : [],
  })
  opened.push(front)
  return { port, counts: front.counts }
}

/** Opens connections one after the other, each known to the server before the next one. */
async function dialMany(port: number, count: number, from: string): Promise<RawClient[]> {
  const clients: RawClient[] = []
  for (let i = 0; i < count; i++) clients.push(await dialRaw(port, { from }))
  return clients
}

async function ask(client: RawClient, path: string): Promise<number | undefined> {
  client.text = ''
  client.socket.write(rawRequest('GET', path))
  await until('an answer', () => client.text.includes('\r\n\r\n') || client.ended)
  return readStatuses(client.text)[0]
}

const areClosed = (clients: RawClient[]) => clients.map(({ ended }) => ended)

test('the oldest silent connection of an address makes room for its next one', async () => {
  const { port, counts } = open()
  const other = await dialRaw(port, { from: '127.0.0.2' })
  const clients = await dialMany(port, 6, '127.0.0.1')
  await until('room', () => clients[1]?.ended)
  expect(areClosed(clients)).toEqual([true, true, false, false, false, false])
  expect(other.ended).toBe(false)
  expect(await ask(clients[5] as RawClient, '/known')).toBe(302)
  expect(counts()).toMatchObject({ open: 5, evicted: 2, refused: 0 })
})

test('one that has just been answered is spared', async () => {
  const { port } = open()
  const [first, ...others] = await dialMany(port, 4, '127.0.0.1')
  expect(await ask(first as RawClient, '/known')).toBe(302)
  const next = await dialRaw(port)
  await until('room', () => others[0]?.ended)
  expect(first?.ended).toBe(false)
  expect(await ask(next, '/known')).toBe(302)
})

test('the oldest silent connection of all makes room at the total', async () => {
  const { port, counts } = open()
  const clients = [
    ...(await dialMany(port, 3, '127.0.0.1')),
    ...(await dialMany(port, 3, '127.0.0.2')),
    ...(await dialMany(port, 3, '127.0.0.3')),
  ]
  await until('room', () => clients[0]?.ended)
  expect(areClosed(clients.slice(1))).toEqual(Array(8).fill(false))
  expect(counts().open).toBe(8)
})

test('an address whose connections are all busy is refused more of them, and another one is not', async () => {
  const { port, counts } = open({ trusted: '127.0.0.9' })
  const busy = await dialMany(port, 4, '127.0.0.9')
  for (const client of busy) client.socket.write(rawRequest('POST', '/wait', 'Content-Length: 1'))
  await until('the relays', () => counts().relayed === 4)
  const more = await dialMany(port, 4, '127.0.0.9')
  // A proxy that is trusted has no limit of its own, but the total holds.
  expect(counts().open).toBe(8)
  expect(await ask(more[0] as RawClient, '/known')).toBe(302)
  const visitor = await dialRaw(port, { from: '127.0.0.2' })
  expect(await ask(visitor, '/known')).toBe(302)
})

test('a request that needs a relay is told to come back when there are too many, and redirects go on', async () => {
  const { port, counts } = open()
  const busy = await dialMany(port, 2, '127.0.0.1')
  for (const client of busy) client.socket.write(rawRequest('GET', '/wait'))
  await until('the relays', () => counts().relayed === 2)
  // The address has all it may have.
  const third = await dialRaw(port)
  expect(await ask(third, '/known')).toBe(302)
  expect(await ask(third, '/other')).toBe(503)
  expect(third.text).toMatch(/\r\nRetry-After: \d+\r\n/)
  expect(third.text).toContain('\r\nConnection: close\r\n')
  expect(third.text).toEndWith('"}')
  await until('its end', () => third.closed)
  const other = await dialRaw(port, { from: '127.0.0.2' })
  expect(await ask(other, '/other')).toBe(200)
  // All relays are taken.
  const last = await dialRaw(port, { from: '127.0.0.3' })
  last.socket.write(rawRequest('GET', '/wait'))
  await until('the relays', () => counts().relayed === 4)
  const late = await dialRaw(port, { from: '127.0.0.4' })
  // The relay of `other` rests, and makes room.
  expect(await ask(late, '/other')).toBe(200)
  expect(await ask(other, '/known')).toBe(302)
  expect(counts().busy).toBe(1)
})

test('a body that nobody reads does not keep the client from its 503', async () => {
  const { port, counts } = open()
  const busy = await dialMany(port, 2, '127.0.0.1')
  for (const client of busy) client.socket.write(rawRequest('GET', '/wait'))
  await until('the relays', () => counts().relayed === 2)
  const client = await dialRaw(port)
  client.socket.write(rawRequest('POST', '/other', 'Content-Length: 300000'))
  client.socket.write('x'.repeat(300_000))
  await until('the answer', () => client.text.endsWith('"}'))
  expect(readStatuses(client.text)).toEqual([503])
  await until('its end', () => client.closed)
  const halfClosed = await dialRaw(port)
  halfClosed.socket.end(rawRequest('GET', '/other'))
  await until('its end', () => halfClosed.closed)
  expect(readStatuses(halfClosed.text)).toEqual([503])
})

test('where relays are nearly all taken, a slow one has less time', async () => {
  const { port, counts } = open({ trusted: '127.0.0.1', progressMs: 6_000 })
  const slow = await dialMany(port, 4, '127.0.0.1')
  for (const client of slow)
    client.socket.write('POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n')
  await until('the relays', () => counts().relayed === 4)
  await until('room', () => counts().stalled > 0, 5_000)
})

test('connections are counted down again', async () => {
  const { port, counts } = open()
  const clients = await dialMany(port, 4, '127.0.0.1')
  expect(await ask(clients[0] as RawClient, '/other')).toBe(200)
  expect(await ask(clients[1] as RawClient, '/known')).toBe(302)
  clients[2]?.socket.resetAndDestroy()
  for (const client of clients) client.socket.destroy()
  await until('the end of all', () => counts().open === 0 && counts().relayed === 0)
})
