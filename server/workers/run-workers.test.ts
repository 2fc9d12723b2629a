// Several server processes as an operator starts them: one command, one port, one PostgreSQL.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import {
  createInstallation,
  type Installation,
  type ServerProcess,
} from '../../tests/faults/server-process.ts'
import { migratedDatabase } from '../../tests/support/migrated-database.ts'
import { findFreePort } from '../../tests/support/processes/free-port.ts'
import { fetchMetrics, parseMetrics, type Sample, sumSamples } from '../../tests/support/read-metrics.ts'
import { atScale, full, SUITE } from '../../tests/support/suite.ts'
import { until } from '../../tests/support/until.ts'
import { BROWSER_USER_AGENT } from '../../tests/support/world.ts'
import { openDatabase } from '../storage/database/open-database.ts'
import { lockDataDir } from '../storage/lock.ts'

const WORKERS = atScale({ quick: 2, full: 3, soak: 3 })
/** Nobody listens there: what is refused here is refused before anybody asks it. */
const NO_CLICKHOUSE = 'http://127.0.0.1:9/towpath'
const NUMBERS = ['1', '2', '3'].slice(0, WORKERS)

/** Each request has a connection of its own, so that the kernel chooses a worker for it. */
const ask = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, {
    redirect: 'manual',
    keepalive: false,
    headers: { 'User-Agent': BROWSER_USER_AGENT, Connection: 'close', ...headers },
    signal: AbortSignal.timeout(5_000),
  })

/** Whether the server's end of a connection has a process, and nothing to read: Linux, proc_net_tcp(5). */
function isRead({ localPort = 0, remotePort = 0 }: Socket): boolean {
  const toHex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => readFileSync(path, 'utf8').split('\n'))
  return lines.some((line) => {
    const [, local, remote, , queues, , , , , inode] = line.trim().split(/\s+/)
    const isEnd = local?.endsWith(`:${toHex(remotePort)}`) && remote?.endsWith(`:${toHex(localPort)}`)
    return isEnd && inode !== '0' && queues?.endsWith(':00000000')
  })
}

/** The quick suite does without ClickHouse: an outage stops only the first start of an installation, before it has counted. */
async function createHitDatabase({ dataDir, databaseUrl }: Installation): Promise<string> {
  if (SUITE !== 'quick') {
    const { getClickHouse } = await import('../../tests/support/clickhouse/clickhouse-server.ts')
    return (await getClickHouse()).createDatabase()
  }
  const db = await openDatabase({ dataDir: join(dataDir, 'beside'), databaseUrl })
  const counted = { node: 'gone', batch: 1 }
  await db.write((connection) => connection.insertInto('click_marks').values(counted).execute())
  await db.close()
  return NO_CLICKHOUSE
}

describe('several workers', () => {
  let installation: Installation
  let server: ServerProcess
  let innerOrigin: string
  beforeAll(async () => {
    const { url } = await migratedDatabase()
    installation = await createInstallation(1, url)
    const innerPort = findFreePort()
    innerOrigin = `http://127.0.0.1:${innerPort}`
    mkdirSync(join(installation.dataDir, 'worker-4'))
    server = await installation.start({
      environment: {
        WORKERS: String(WORKERS),
        CLICKHOUSE_URL: await createHitDatabase(installation),
        INNER_PORT: String(innerPort),
        TRUST_PROXY: '127.0.0.1',
      },
    })
    const key = installation.keys[0] as string
    const link = { slug: 'known', destinationUrl: 'https://example.com/' }
    expect((await server.api(key, '/links', link)).status).toBe(201)
  }, 900_000)
  afterAll(() => installation?.end())

  const clickOnce = async () => (await ask(`${server.origin}/known`)).status
  const clickOften = async (times: number) =>
    (await Promise.all(Array.from({ length: times }, clickOnce))).filter((status) => status !== 302)
  const listWorkers = () => {
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ')
    const toNumber = (pid: string) =>
      /--worker=(\d+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.[1] ?? ''
    return new Map(children.map((pid) => [toNumber(pid), Number(pid)]))
  }
  const toUp = (samples: Sample[]) =>
    NUMBERS.map((worker) => sumSamples(samples, 'towpath_worker_up', { worker }))

  test('say once that they are ready, and warn of a directory that none of them has', () => {
    expect(server.readOutput().match(/Towpath is ready/g)).toHaveLength(1)
    const [warning] = server.readOutput().match(/.*directory_without_worker.*/g) ?? []
    expect(warning).toContain('/worker-4"')
  })

  test('own a directory each, and share the secret, which no command line has', () => {
    const { dataDir } = installation
    const secret = readFileSync(join(dataDir, 'secret'), 'utf8').trim()
    for (const [number, pid] of listWorkers()) {
      const own = join(dataDir, `worker-${number}`)
      expect([existsSync(join(own, 'spool')), existsSync(join(own, 'secret'))]).toEqual([true, false])
      expect(statSync(own).mode & 0o077).toBe(0)
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(secret)
    }
    expect(readdirSync(dataDir)).not.toContain('spool')
  })

  test('all answer on one port, and any of them gives the metrics of all', async () => {
    expect(await clickOften(60)).toEqual([])
    const samples = await fetchMetrics(server.origin)
    const clicks = NUMBERS.map((worker) => sumSamples(samples, 'towpath_hits_total', { worker }))
    expect(Math.min(...clicks)).toBeGreaterThan(0)
    expect(clicks.reduce((sum, each) => sum + each)).toBe(60)
    expect(toUp(samples)).toEqual(NUMBERS.map(() => 1))
    expect(new Set(samples.map(({ labels }) => labels.node)).size).toBe(WORKERS)
    expect(samples.filter(({ labels }) => !NUMBERS.includes(labels.worker ?? ''))).toEqual([])
  })

  test('keep the files of their release for servers of another one', async () => {
    const { dataDir, databaseUrl } = installation
    const db = await openDatabase({ dataDir: join(dataDir, 'beside'), databaseUrl })
    try {
      await until('the files', async () => {
        const rows = await db.read.selectFrom('built_files').select('kind').distinct().execute()
        return rows.length === 2
      })
    } finally {
      await db.close()
    }
  })

  test('answer on the inner port, with the address that the balancer names', async () => {
    const redirect = await ask(`${innerOrigin}/known`)
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, 'https://example.com/'])
    const statuses = async (headers = {}) => [
      (await ask(`${innerOrigin}/version`, headers)).status,
      (await ask(`${innerOrigin}/readyz`, headers)).status,
    ]
    expect(await statuses()).toEqual([200, 200])
    expect(await statuses({ 'X-Forwarded-For': '203.0.113.9' })).toEqual([404, 200])
  })

  full('go on when one of them is killed, which is started again', async () => {
    const killed = listWorkers().get('2') as number
    process.kill(killed, 'SIGKILL')
    await until('the supervisor knows', () => server.readOutput().includes('worker_lost'))
    expect(await clickOften(30)).toEqual([])
    await until('it is back', () => (listWorkers().get('2') ?? killed) !== killed)
    await until(
      'all give their metrics',
      async () => toUp(await fetchMetrics(server.origin)).join() === '1,1,1',
    )
    expect(await clickOften(30)).toEqual([])
    expect(server.readOutput()).toMatch(/"worker_lost","worker":2,"ended":"SIGKILL","restartInMs":250/)
  })

  full('leave out the metrics of one that hangs, and say so', async () => {
    const hanging = listWorkers().get('3') as number
    process.kill(hanging, 'SIGSTOP')
    try {
      // The kernel gives it connections all the same.
      const asked = Array.from({ length: 6 }, async () => (await ask(`${server.origin}/metrics`)).text())
      const samples = parseMetrics(await Promise.any(asked))
      expect(toUp(samples)).toEqual([1, 1, 0])
      expect(sumSamples(samples, 'towpath_hits_total', { worker: '3' })).toBeNaN()
    } finally {
      process.kill(hanging, 'SIGCONT')
    }
  })

  test('stop in order: a request that has begun is answered', async () => {
    const socket = connect(Number(new URL(server.origin).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (data) => {
      answer += data
    })
    const body = '{"slug":"slow","destinationUrl":"https://example.com/"}'
    socket.write(
      `POST /v1/links HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${installation.keys[0]}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
    )
    await until('it is connected', () => !socket.connecting)
    await until('a worker has read the request', () => socket.writableLength === 0 && isRead(socket))
    const workers = [...listWorkers().values()]
    const exitCode = server.stop()
    await until('no more connections are taken', () =>
      clickOnce().then(
        () => false,
        () => true,
      ),
    )
    socket.write(body.slice(-1))
    expect(await exitCode).toBe(0)
    expect(answer).toStartWith('HTTP/1.1 201')
    expect(workers.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([])
  })
})

describe('several workers refuse to start, with one sentence', () => {
  let installation: Installation
  beforeAll(async () => {
    installation = await createInstallation(0, (await migratedDatabase()).url)
  })
  afterAll(() => installation?.end())

  const refuse = async (environment: Record<string, string>) => {
    const all = { WORKERS: '2', CLICKHOUSE_URL: NO_CLICKHOUSE, ...environment }
    const error = await installation.start({ environment: all }).then(
      () => undefined,
      (reason: Error) => reason.message,
    )
    const [end, title, ...sentences] = (error ?? '').trimEnd().split('\n')
    expect([end, title]).toEqual(['The server ended with 1:', 'Towpath cannot start:'])
    return sentences.map((sentence) => sentence.trim())
  }

  test('where a setting is wrong', async () => {
    expect(await refuse({ LOG_LEVEL: 'loud' })).toEqual([expect.stringMatching(/^LOG_LEVEL: .+\.$/)])
  })

  full(
    'where the database is away',
    async () => {
      const DATABASE_URL = `postgres://u:hunter2@127.0.0.1:${findFreePort()}/d`
      const sentences = await refuse({ DATABASE_URL })
      expect(sentences).toEqual([expect.stringMatching(/^The database cannot be reached.*ECONNREFUSED/)])
      expect(sentences.join()).not.toContain('hunter2')
    },
    120_000,
  )

  // Without the check, two servers of one user would each get a part of the connections.
  full.each(['PORT', 'INNER_PORT'])(
    'where another server has the %s, also one that shares it',
    async (setting: string) => {
      const other = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        reusePort: true,
        fetch: () => new Response(''),
      })
      try {
        expect(await refuse({ [setting]: String(other.port) })).toEqual([
          expect.stringContaining(`HOST, ${setting}: 127.0.0.1, port ${other.port} cannot be used`),
        ])
      } finally {
        await other.stop(true)
      }
    },
  )

  test('where another server has the directory', async () => {
    const lock = lockDataDir(installation.dataDir)
    try {
      const sentence = `Another Towpath server is running on ${installation.dataDir}.`
      expect(await refuse({})).toEqual([expect.stringContaining(sentence)])
    } finally {
      lock.release()
    }
  })
})
