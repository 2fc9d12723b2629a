// The server as a process: its start, its refusals to start, and its end.

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../tests/support/processes/free-port.ts'
import { full } from '../tests/support/suite.ts'
import { until } from '../tests/support/until.ts'
import { BROWSER_USER_AGENT } from '../tests/support/world.ts'
import { generateApiKey } from './features/accounts/access/api-key.ts'
import { createKey } from './features/accounts/access/keys.ts'
import { createWorkspace } from './features/accounts/workspaces/create-workspace.ts'
import { openDatabase } from './storage/database/open-database.ts'

const ROOT = join(import.meta.dir, '..')
/** For a machine that is busy with other things. */
const WITHIN_MS = 60_000
const base = mkdtempSync(join(tmpdir(), 'towpath-test-'))
const started: ReturnType<typeof launch>[] = []
afterAll(async () => {
  for (const server of started) if (server.process.exitCode === null) server.process.kill('SIGKILL')
  await Promise.all(started.map(({ process }) => process.exited))
  rmSync(base, { recursive: true, force: true })
})

let made = 0
const freshDir = () => join(base, String(made++))

function launch(env: Record<string, string>) {
  const child = Bun.spawn([join(ROOT, 'node_modules/.bin/bun'), 'server/main.ts'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', LOG_LEVEL: 'error', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = { out: '', err: '' }
  const read = async (stream: ReadableStream<Uint8Array>, name: 'out' | 'err') => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) output[name] += decoder.decode(chunk, { stream: true })
  }
  const readers = Promise.all([read(child.stdout, 'out'), read(child.stderr, 'err')])
  return {
    process: child,
    output,
    /** Milliseconds of the processor, of a process that has ended: the same however busy the machine is. */
    worked: () => Number(child.resourceUsage()?.cpuTime.total) / 1000,
    /** @returns the exit code, once everything that was printed has been read. */
    async ended() {
      const code = await child.exited
      await readers
      return code
    },
  }
}

async function serve(env: Record<string, string> = {}) {
  const port = Number(env.PORT ?? findFreePort())
  const dataDir = env.DATA_DIR ?? freshDir()
  const server = launch({ PORT: String(port), DATA_DIR: dataDir, ...env })
  started.push(server)
  await until('the server says which address to open', () => /^http:.*\n/m.test(server.output.out), WITHIN_MS)
  return { ...server, port, dataDir, origin: `http://127.0.0.1:${port}` }
}

/** A workspace beside the running server, as the command line makes one. */
async function makeKey(dataDir: string) {
  const db = await openDatabase({ dataDir })
  try {
    const needs = { db, now: () => Date.UTC(2026, 5, 11, 12) }
    const workspace = await createWorkspace(needs, { name: 'w', plan: 'enterprise' })
    return (await createKey(needs, workspace.id, 'k')).key
  } finally {
    await db.close()
  }
}

const reachable = (port: number) =>
  fetch(`http://127.0.0.1:${port}/livez`).then(
    () => true,
    () => false,
  )

describe('a start', () => {
  test('on an empty directory takes less than 2 s of work, and the last line is the address to open', async () => {
    const { output, origin, port, worked, process: child, ended } = await serve({ HOST: '' })
    const [line, address, ...others] = output.out.trimEnd().split('\n')
    expect([line, others]).toEqual([expect.stringMatching(/^Towpath is ready\. Make the first account/), []])
    expect(address).toMatch(new RegExp(`^http://localhost:${port}/app/setup\\?token=[\\w-]{43}$`))
    expect((await fetch(`${origin}/readyz`)).status).toBe(200)
    // The token in it is right. Requests from this machine need none, over IPv6 and IPv4.
    const token = new URL(address as string).searchParams.get('token')
    expect((await fetch(`${origin}/api/auth/setup?token=${token}`)).status).toBe(200)
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
      const options = (headers: Record<string, string>) =>
        fetch(`http://${host}:${port}/api/auth/options`, { headers }).then((answer) => answer.json())
      expect(await options({})).toMatchObject({ signup: 'first' })
      expect(await options({ 'X-Forwarded-For': '8.8.8.8' })).toMatchObject({ signup: 'setup' })
    }
    child.kill('SIGTERM')
    expect(await ended()).toBe(0)
    expect(worked()).toBeLessThan(2_000)
    expect(output.err).toBe('')
    expect(await reachable(Number(new URL(origin).port))).toBe(false)
  })

  full('goes on when the reader of its log has ended', async () => {
    const port = findFreePort()
    const child = Bun.spawn(['sh', '-c', 'node_modules/.bin/bun server/main.ts | head -n 1'], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: String(port), DATA_DIR: freshDir() },
      stdout: 'ignore',
      stderr: 'inherit',
      detached: true,
    })
    try {
      await until('the server answers', () => reachable(port), WITHIN_MS)
      for (let n = 0; n < 3; n++)
        expect((await fetch(`http://127.0.0.1:${port}/api/auth/options`)).status).toBe(200)
    } finally {
      process.kill(-child.pid, 'SIGKILL')
    }
  })

  test('with a wrong environment stops within 2 s of work, with a line for each problem, no socket and no rows', async () => {
    const [PORT, DATA_DIR] = [String(findFreePort()), freshDir()]
    const server = launch({
      PORT,
      DATA_DIR,
      TOWPATH_URL: 'go.example',
      DATABASE_URL: 'mysql://root:hunter2@db/x',
      TOWPATH_SECRET: 'changeme',
      TRUST_PROXY: '1',
      GEOIP_DB: '/nowhere.mmdb',
      DEFAULT_PLAN: 'gold',
      TOWPATH_SECRE: 'x',
    })
    expect(await server.ended()).toBe(1)
    expect(server.worked()).toBeLessThan(2_000)
    const [title, ...problems] = server.output.err.trimEnd().split('\n')
    expect(title).toBe('Towpath cannot start:')
    expect(problems.map((line) => /^ {2}(\w+): .+\. .+\.$/.exec(line)?.[1]).sort()).toEqual([
      'DATABASE_URL',
      'DEFAULT_PLAN',
      'GEOIP_DB',
      'TOWPATH_SECRE',
      'TOWPATH_SECRET',
      'TOWPATH_URL',
      'TRUST_PROXY',
    ])
    expect(server.output.out).toBe('')
    expect(server.output.err).not.toContain('hunter2')
    expect(await reachable(Number(PORT))).toBe(false)
    expect(readdirSync(DATA_DIR)).toEqual([])
  })

  full('on a port in use reports it', async () => {
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('other') })
    const server = launch({ PORT: String(other.port), DATA_DIR: freshDir() })
    expect(await server.ended()).toBe(1)
    expect(server.output.err).toMatch(
      new RegExp(
        `^Towpath cannot start:\\n {2}HOST, PORT: .+ ${other.port} cannot be used .+ Stop the program that uses it, or set another\\.\\n$`,
      ),
    )
    expect(server.output.out).toBe('')
    await other.stop(true)
  })

  full('beside another server on the same directory reports it, and the other goes on', async () => {
    const first = await serve()
    const second = launch({ PORT: String(findFreePort()), DATA_DIR: first.dataDir })
    expect(await second.ended()).toBe(1)
    expect(second.output.err).toContain(`Another Towpath server is running on ${first.dataDir}. Stop it, or`)
    expect(second.output.out).toBe('')
    expect(await reachable(first.port)).toBe(true)
    first.process.kill('SIGTERM')
    expect(await first.ended()).toBe(0)
  })

  full(
    'without its database reports that it does not answer',
    async () => {
      const port = findFreePort()
      const server = launch({
        PORT: String(findFreePort()),
        DATA_DIR: freshDir(),
        DATABASE_URL: `postgres://u:hunter2@127.0.0.1:${port}/d`,
      })
      expect(await server.ended()).toBe(1)
      expect(server.output.err).toMatch(
        /^Towpath cannot start:\n {2}The database cannot be reached.*ECONNREFUSED/,
      )
      expect(server.output.err).not.toContain('hunter2')
    },
    120_000,
  )
})

describe('SIGTERM', () => {
  /** Requests that the server has begun to read and cannot answer yet: the last byte of the body is missing. */
  function halfSent(port: number, key: string, count: number) {
    return Array.from({ length: count }, (_, i) => {
      const body = JSON.stringify({ destinationUrl: 'https://example.com/', slug: `slow-${i}` })
      const socket: Socket = connect(port, '127.0.0.1')
      let answer = ''
      socket.on('data', (data) => {
        answer += data
      })
      const closed = new Promise<void>((resolve) => {
        socket.on('close', () => resolve())
        socket.on('error', () => resolve())
      })
      socket.write(
        `POST /v1/links HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
      )
      return { finish: () => socket.write(body.slice(-1)), closed, status: () => answer.split(' ')[1] }
    })
  }

  test('under load: every accepted request gets a right answer, and the exit code is 0', async () => {
    const { origin, port, dataDir, process: child, output, ended } = await serve()
    const key = await makeKey(dataDir)
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const made = await fetch(`${origin}/v1/links`, {
      method: 'POST',
      headers,
      body: '{"destinationUrl":"https://example.com/","slug":"busy"}',
    })
    expect(made.status).toBe(201)

    const statuses: number[] = []
    let over = false
    const visitor = async () => {
      while (!over) {
        try {
          const response = await fetch(`${origin}/busy`, {
            redirect: 'manual',
            headers: { 'User-Agent': BROWSER_USER_AGENT },
          })
          await response.text()
          statuses.push(response.status)
        } catch {
          // Not accepted any more.
          over = true
        }
      }
    }
    const visitors = Array.from({ length: 20 }, visitor)
    const slow = halfSent(port, key, 10)
    await until('the load is on', () => statuses.length > 200, WITHIN_MS)

    child.kill('SIGTERM')
    await until('no more connections are taken', async () => !(await reachable(port)), WITHIN_MS)
    for (const request of slow) request.finish()
    expect(await ended()).toBe(0)
    await Promise.all([...visitors, ...slow.map(({ closed }) => closed)])
    expect(slow.map(({ status }) => status())).toEqual(Array(10).fill('201'))
    expect(new Set(statuses)).toEqual(new Set([302]))
    expect(output.err).toBe('')

    const again = await serve({ PORT: String(port), DATA_DIR: dataDir })
    // biome-ignore lint/suspicious/noExplicitAny: answers of two shapes
    const ask = async (path: string): Promise<any> => (await fetch(`${origin}/v1${path}`, { headers })).json()
    expect((await ask('/links?search=slow-')).total).toBe(10)
    // A visitor whose connection broke may have been recorded without having seen the answer; never the reverse.
    const clicks = await until(
      'the clicks are counted',
      async () => {
        const { data } = await ask('/analytics/clicks?interval=24h')
        return data && data.clicks >= statuses.length ? data.clicks : undefined
      },
      WITHIN_MS,
    )
    expect(clicks).toBeLessThanOrEqual(statuses.length + visitors.length)
    again.process.kill('SIGTERM')
    expect(await again.ended()).toBe(0)
  }, 240_000)

  full(
    'twice stops at once',
    async () => {
      const { port, dataDir, process: child, ended } = await serve()
      const [slow] = halfSent(port, await makeKey(dataDir), 1)
      await until('it is connected', () => reachable(port))
      child.kill('SIGTERM')
      await until('no more connections are taken', async () => !(await reachable(port)), WITHIN_MS)
      child.kill('SIGTERM')
      expect(await ended()).toBe(1)
      await slow?.closed
    },
    120_000,
  )
})

full('no log line has a key, a body, a query or an address', async () => {
  const {
    origin,
    dataDir,
    output,
    process: child,
    ended,
  } = await serve({ LOG_LEVEL: 'info', TRUST_PROXY: '127.0.0.1' })
  const [key, unknown] = [await makeKey(dataDir), generateApiKey()]
  const send = (path: string, authorization: string, init: RequestInit = {}) =>
    fetch(origin + path, {
      ...init,
      headers: {
        Authorization: authorization,
        'Content-Type': 'application/json',
        'X-Forwarded-For': '203.0.113.77',
        Cookie: 'session=cookie-text',
        ...init.headers,
      },
    })
  const post = { method: 'POST', body: '{"destinationUrl":"https://example.com/body-text","slug":"logged"}' }
  const answers = [
    await send('/v1/links', `Bearer ${key}`, post),
    await send('/v1/links', `Bearer ${key}`, { ...post, headers: { 'Idempotency-Key': 'idempotency-text' } }),
    await send('/v1/links', `Bearer ${key}`, { ...post, body: '{"body-text' }),
    await send(`/v1/links?key=${key}&search=query-text`, `Bearer ${key}`),
    await send('/v1/links', `Bearer ${unknown}`),
    await send('/v1/links', `Bearer ${key}x`),
    await send('/logged?query-text', '', { redirect: 'manual' }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([201, 409, 400, 422, 401, 401, 302])
  child.kill('SIGTERM')
  expect(await ended()).toBe(0)
  const written = output.out + output.err
  expect(written.match(/"event":"request"/g)?.length).toBeGreaterThanOrEqual(6)
  for (const secret of [
    key,
    unknown,
    'body-text',
    'query-text',
    'cookie-text',
    'idempotency-text',
    '203.0.113.77',
  ]) {
    expect([secret, written.includes(secret)]).toEqual([secret, false])
  }
})
