// A server with few descriptors, and strangers who take all they get: redirects go on, and no thread spins.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFormOverHttp } from '../faults/form-submissions.ts'
import { createInstallation, type Installation, type ServerProcess } from '../faults/server-process.ts'
import { SCRIPT_HEADERS } from '../support/form-requests.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import {
  destroyRawClients,
  dialRaw,
  type RawClient,
  rawRequest,
  readStatuses,
} from '../support/raw-client.ts'
import { readMetric } from '../support/read-metrics.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

const withDescriptors = (count: number) => ['sh', '-c', `ulimit -n ${count}; exec "$@"`, 'sh']

/** Seconds of processor time that a process has had (Linux: proc(5), `/proc/pid/stat`, in ticks of 10 ms). */
function readProcessorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** @returns the part of one core that the process takes while nobody asks anything */
async function measureIdleShare(pid: number): Promise<number> {
  const [before, startedAt] = [readProcessorSeconds(pid), performance.now()]
  await Bun.sleep(1000)
  return (readProcessorSeconds(pid) - before) / ((performance.now() - startedAt) / 1000)
}

async function redirectOnce(port: number, path: string): Promise<number | undefined> {
  const client = await dialRaw(port)
  client.socket.write(rawRequest('GET', path, 'Connection: close'))
  await until('the answer', () => client.ended, 10_000)
  client.socket.destroy()
  return readStatuses(client.text)[0]
}

describe.skipIf(process.platform !== 'linux')('a server with 256 descriptors', () => {
  let installation: Installation
  let server: ServerProcess
  let port: number
  beforeAll(async () => {
    installation = await createInstallation(1)
    server = await installation.start({
      commandPrefix: withDescriptors(256),
      environment: { TRUST_PROXY: '127.0.0.1' },
    })
    port = Number(new URL(server.origin).port)
    const body = { slug: 'known', destinationUrl: 'https://example.com/' }
    await server.api(installation.keys[0] as string, '/links', body)
    expect((await server.click('known')).status).toBe(302)
  }, 60_000)
  afterEach(destroyRawClients)
  afterAll(() => installation?.end())

  full(
    'answers redirects beside clients that take none of their big answers, and beside silent ones',
    async () => {
      const attackers: Promise<RawClient>[] = []
      for (let n = 0; n < 400; n++) {
        // Eight addresses pipeline, eight say nothing.
        attackers.push(
          dialRaw(port, { from: `127.0.1.${n % 16}`, paused: true }).then((client) => {
            if (n % 2 === 0) client.socket.write(rawRequest('GET', '/docs/swagger-ui-bundle.js').repeat(6))
            return client
          }),
        )
      }
      await Promise.all(attackers)
      for (let i = 0; i < 20; i++) expect(await redirectOnce(port, '/known')).toBe(302)
      expect(await measureIdleShare(server.pid)).toBeLessThan(0.5)
      expect(server.readOutput().match(/"stack"/g)).toBeNull()
    },
  )

  test('takes submissions from more senders than it has descriptors, and keeps none open', async () => {
    const [key = ''] = installation.keys
    const form = await createFormOverHttp(server, installation)
    const countOpen = () => readdirSync(`/proc/${server.pid}/fd`).length
    // All from one address, so that the server closes some of these connections for others.
    const statuses = await Promise.all(
      Array.from({ length: 400 }, (_, n) =>
        server.submit(form, `n=${n}`, { ...SCRIPT_HEADERS, Connection: 'close' }).then(
          ({ status, headers }) => (status === 503 && !headers.get('retry-after') ? '503 for ever' : status),
          () => 'closed',
        ),
      ),
    )
    const count = (status: number) => statuses.filter((each) => each === status).length
    expect(statuses.filter((status) => ![200, 503, 'closed'].includes(status))).toEqual([])
    expect(count(200)).toBeGreaterThan(0)
    const stored = (await server.api(key, `/forms/${form}`)).json.data.submissions
    expect(stored).toBeGreaterThanOrEqual(count(200))
    expect(stored).toBeLessThanOrEqual(400 - count(503))
    expect((await server.api(key, '/analytics/clicks')).status).toBe(200)
    await until('the connections to be closed', () => countOpen() < 100)
  })

  test('drops connections that were reset before they were accepted, without a word', async () => {
    process.kill(server.pid, 'SIGSTOP')
    try {
      for (let n = 0; n < 100; n++) {
        const client = await dialRaw(port)
        client.socket.write(rawRequest('GET', n % 2 ? '/known' : '/v1/links'))
        await new Promise((resolve) => setImmediate(resolve))
        client.socket.resetAndDestroy()
      }
    } finally {
      process.kill(server.pid, 'SIGCONT')
    }
    for (let i = 0; i < 5; i++) expect(await redirectOnce(port, '/known')).toBe(302)
    expect(server.readOutput().match(/"stack"/g)).toBeNull()
    expect(server.readOutput().match(/"connection_failed"/g)).toBeNull()
  })

  test('survives a storm of resets', async () => {
    for (let round = 0; round < 10; round++) {
      const clients = await Promise.all(
        Array.from({ length: 40 }, (_, n) => dialRaw(port, { from: `127.0.2.${n % 20}` })),
      )
      for (const [n, { socket }] of clients.entries()) {
        socket.write(rawRequest('GET', ['/known', '/unknown', '/v1/links'][n % 3] as string))
        if (n % 2) await new Promise((resolve) => setImmediate(resolve))
        socket.resetAndDestroy()
      }
    }
    expect(await redirectOnce(port, '/known')).toBe(302)
    const open = () => readMetric(server.origin, 'towpath_connections')
    await until('the end of all', async () => (await open()) <= 3)
    expect(server.readOutput().match(/"stack"/g)).toBeNull()
  })
})

const onLinux = process.platform === 'linux' ? full.describe : describe.skip
onLinux('a process whose descriptors are all taken by something else', () => {
  const port = findFreePort()
  const child = Bun.spawn(
    [...withDescriptors(128), process.execPath, join(import.meta.dir, 'descriptor-hog.ts'), String(port)],
    { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' },
  )
  const output: string[] = []
  const reading = (async () => {
    for await (const chunk of child.stdout) output.push(Buffer.from(chunk).toString())
  })()
  afterAll(async () => {
    destroyRawClients()
    child.kill()
    await Promise.all([reading, child.exited])
  })

  async function command(text: string): Promise<void> {
    output.length = 0
    child.stdin.write(`${text}\n`)
    child.stdin.flush()
    await until(`an answer to ${text}`, () => output.join('').includes(`${text} `))
  }

  test('still accepts, with silent clients making room, and does not spin', async () => {
    await until('the start', () => output.join('').includes('ready'))
    const silent = await Promise.all(Array.from({ length: 10 }, () => dialRaw(port)))
    await command('hog')
    const waiting = await Promise.all(Array.from({ length: 20 }, () => dialRaw(port)))
    expect(await redirectOnce(port, '/known')).toBe(302)
    expect(silent.some(({ ended }) => ended)).toBe(true)
    expect(await measureIdleShare(child.pid)).toBeLessThan(0.5)
    for (const { socket } of [...silent, ...waiting]) socket.destroy()
    await command('free')
    for (let i = 0; i < 20; i++) expect(await redirectOnce(port, '/known')).toBe(302)
  })
})
