import { expect, test } from 'bun:test'
import { isDirectRequest } from './direct-request.ts'

const ORIGIN = 'https://go.example'
const direct = (peer: string, headers: Record<string, string> = {}) =>
  isDirectRequest(peer, new Headers({ Host: 'localhost:3000', ...headers }), ORIGIN)

test.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])('%s is this machine', (peer) => {
  expect(direct(peer)).toBe(true)
})

// '' stands for a client that has gone in the meantime.
test.each(['', '10.0.0.1', '203.0.113.7', '::', 'fe80::1', '::ffff:10.0.0.1'])('%p is not', (peer) => {
  expect(direct(peer)).toBe(false)
})

test.each(['localhost', '127.0.0.1:80', '[::1]:3000', 'go.example'])('the host %s is ours', (Host) => {
  expect(direct('127.0.0.1', { Host })).toBe(true)
})

test.each(['', 'evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:3000'])(
  'the host %p is not',
  (Host) => {
    expect(direct('127.0.0.1', { Host })).toBe(false)
  },
)

test.each(['X-Forwarded-For', 'X-Forwarded-Anything', 'Forwarded', 'X-Real-IP', 'Via'])(
  'a request with %s came through a proxy',
  (name) => {
    expect(direct('127.0.0.1', { [name]: '' })).toBe(false)
  },
)
