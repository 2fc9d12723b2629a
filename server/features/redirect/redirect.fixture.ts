// Helpers for tests of redirects: they read the recorded hits, and send requests that no client library sends.

import { expect } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Hit } from '../../storage/hits/hit.ts'

interface TestServer {
  origin: string
  dataDir: string
  app: { spool: { node: string } }
  waitUntilShipped(): Promise<void>
}

/** Reads every hit that the batch files hold. */
export async function readRecordedHits(server: TestServer): Promise<Hit[]> {
  await server.waitUntilShipped()
  return readBatchText(server)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Hit)
}

export function readBatchText(server: TestServer): string {
  const dir = join(server.dataDir, 'batches', server.app.spool.node)
  return readdirSync(dir)
    .filter((name) => name.endsWith('.ndjson'))
    .sort()
    .map((name) => readFileSync(join(dir, name), 'utf8'))
    .join('')
}

/** Sends bytes as they are, and returns all bytes until the server closes the connection. */
export function sendRawRequest(server: TestServer, text: string): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const socket = connect(Number(new URL(server.origin).port), '127.0.0.1', () => socket.write(text))
  let answer = ''
  socket.setEncoding('utf8')
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', reject)
  socket.on('close', () => resolve({ status: Number(answer.split(' ')[1] ?? 0), text: answer }))
  return promise
}

export const sendRawGet = (server: TestServer, target: string, headers = '') =>
  sendRawRequest(server, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`)

/** Every page is uncached and unindexed, loads nothing, runs no script, and is readable on a phone and in the dark. */
export function expectVisitorPage({ headers, text }: { headers: Headers; text: string }) {
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('x-robots-tag')).toBe('noindex')
  expect(headers.get('cache-control')).toBe('private, no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  expect(headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; frame-ancestors 'none'`,
  )
  expect(text).toStartWith('<!doctype html>\n<html lang="en">')
  expect(text).toMatch(/<title>[^<]+<\/title>/)
  expect(text).toMatch(/<meta name="viewport" content="width=device-width, initial-scale=1">/)
  expect(text.match(/<h1>/g)).toHaveLength(1)
  expect(style).toContain('color-scheme: light dark')
  expect(style).toContain('prefers-color-scheme: dark')
  expect(text).not.toMatch(/<(script|link|img|iframe|object|embed|base)\b|\ssrc=|\sstyle=|\son\w+=/i)
  expect(style).not.toMatch(/@import|url\(/)
}
