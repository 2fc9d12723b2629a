// Requests that reuse connections are checked like all others, and never meet a connection that was made for another
// answer of the name server.

import { afterEach, expect, test } from 'bun:test'
import net from 'node:net'
import { until } from '../../tests/support/until.ts'
import { type Network, parseNetwork } from '../lib/ip-network.ts'
import { type ResolveHost, type SafeRequest, safeRequest } from './safe-request.ts'

const LOOPBACK = [parseNetwork('127.0.0.0/8') as Network]

const open: { close(): void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

/** Answers each request with its own address, and keeps the connection. `sockets` are those that were ever made. */
async function listen(host: string, port = 0, act: (socket: net.Socket, request: number) => void = answer) {
  const sockets: net.Socket[] = []
  const server = net.createServer((socket) => {
    sockets.push(socket)
    let requests = 0
    socket.on('error', () => {})
    socket.on('data', () => act(socket, ++requests))
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  open.push({
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
  return { port: (server.address() as net.AddressInfo).port, sockets }
}

const answer = (socket: net.Socket) => {
  const text = String(socket.localAddress)
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
}

const to =
  (...addresses: string[]): ResolveHost =>
  async () =>
    addresses.map((address) => ({ address, family: 4 }))

async function ask(port: number, more: Partial<SafeRequest> = {}) {
  const result = await safeRequest({
    url: `http://hook.test:${port}/`,
    method: 'POST',
    body: 'hello',
    allow: LOOPBACK,
    resolve: to('127.0.0.1'),
    reusesConnections: true,
    timeoutMs: 5_000,
    ...more,
  })
  return result.ok ? Buffer.from(result.body).toString() : result.reason
}

test('ten requests in a row use one connection', async () => {
  const server = await listen('127.0.0.1')
  for (let i = 0; i < 10; i++) expect(await ask(server.port)).toBe('127.0.0.1')
  expect(server.sockets).toHaveLength(1)
})

test('a name that moves takes no request to its old address', async () => {
  const first = await listen('127.0.0.1')
  const second = await listen('127.0.0.2', first.port)
  expect(await ask(first.port)).toBe('127.0.0.1')
  expect(await ask(first.port, { resolve: to('127.0.0.2') })).toBe('127.0.0.2')
  expect([first.sockets.length, second.sockets.length]).toEqual([1, 1])
})

test('a name that turns to a private address is refused, although a connection is open (DNS rebinding)', async () => {
  const server = await listen('127.0.0.1')
  expect(await ask(server.port)).toBe('127.0.0.1')
  expect(await ask(server.port, { resolve: to('10.0.0.1') })).toBe('refused-address')
  expect(await ask(server.port, { allow: [] })).toBe('refused-address')
  expect(await ask(server.port, { url: `http://127.0.0.1:${server.port}/`, allow: [] })).toBe(
    'refused-address',
  )
  expect(server.sockets).toHaveLength(1)
})

test('another name with the same address has connections of its own', async () => {
  const server = await listen('127.0.0.1')
  await ask(server.port)
  await ask(server.port, { url: `http://other.test:${server.port}/` })
  expect(server.sockets).toHaveLength(2)
})

test('a request over a connection that ends without an answer is sent again over a new one, once', async () => {
  const server = await listen('127.0.0.1', 0, (socket, request) => {
    if (request === 1) answer(socket)
    else socket.destroy()
  })
  expect(await ask(server.port)).toBe('127.0.0.1')
  expect(await ask(server.port)).toBe('127.0.0.1')
  expect(server.sockets).toHaveLength(2)
  // A new connection that ends without an answer is an answer by itself.
  const dead = await listen('127.0.0.1', 0, (socket) => socket.destroy())
  expect(await ask(dead.port)).toBe('connect')
  expect(dead.sockets).toHaveLength(1)
})

test('a connection whose answer was cut is not used again', async () => {
  const server = await listen('127.0.0.1')
  await ask(server.port, { maxBytes: 2 })
  await ask(server.port)
  expect(server.sockets).toHaveLength(2)
})

test('idle connections end by themselves', async () => {
  const server = await listen('127.0.0.1')
  await ask(server.port)
  await until('the connection to end', () => server.sockets.every(({ readyState }) => readyState !== 'open'))
})
