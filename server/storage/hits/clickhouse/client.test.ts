// The ClickHouse client with several servers. Replicated tables need ClickHouse Keeper, which the library of the tests
// lacks, so small servers answer here as replicas do.

import { afterEach, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import { findFreePort } from '../../../../tests/support/processes/free-port.ts'
import { ClickHouseError } from './clickhouse-error.ts'
import { type ClickHouseClient, createClickHouseClient } from './client.ts'

type Answer = 'cut' | 'hang' | 'redirect' | undefined
interface Replica {
  url: string
  port: number
  /** The statements that have arrived, but for those that ask for its delay. */
  statements: string[]
  delaySeconds: number
  answer(sql: string): Answer
  headers: Record<string, unknown>
  stop(): void
}

const servers: Server[] = []
const clients: ClickHouseClient[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server that answers each question with its own name. */
async function startReplica(name: string, port = 0): Promise<Replica> {
  const replica: Replica = {
    url: '',
    port,
    statements: [],
    delaySeconds: 0,
    answer: () => undefined,
    headers: {},
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const sql =
      new URL(request.url ?? '', 'http://x').searchParams.get('query') ?? Buffer.concat(chunks).toString()
    replica.headers = request.headers
    if (sql.includes('system.replicas')) return response.end(`["${replica.delaySeconds}","0"]\n`)
    replica.statements.push(sql)
    const answer = replica.answer(sql)
    if (answer === 'cut') return request.socket.destroy()
    if (answer === 'redirect') return response.writeHead(307, { Location: 'http://evil.example/' }).end()
    if (answer !== 'hang') response.end(`["${name}"]\n`)
  })
  servers.push(server)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(port, '127.0.0.1', resolve)
  await promise
  replica.port = (server.address() as { port: number }).port
  replica.url = `http://u:p@127.0.0.1:${replica.port}/towpath`
  return replica
}

/** A client that looks at every call which server to use. */
const createClient = (...urls: string[]) => {
  const client = createClickHouseClient(urls, 0)
  clients.push(client)
  return client
}
const away = () => `http://u:p@127.0.0.1:${findFreePort()}/towpath`
const data = new Uint8Array()
const catchError = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('of several servers', () => {
  test('the first one that answers gets questions and inserts', async () => {
    const [second, third] = [await startReplica('second'), await startReplica('third')]
    const client = createClient(away(), second.url, third.url)
    expect(await client.select('SELECT 1')).toEqual([['second']])
    await client.insert('INSERT INTO hits', data)
    await client.execute('CREATE TABLE x')
    expect(second.statements).toEqual(['SELECT 1', 'INSERT INTO hits', 'CREATE TABLE x'])
    expect(third.statements).toEqual([])
  })

  test('one with a replication delay is passed over; when all have one, the first is used', async () => {
    const [first, second] = [await startReplica('first'), await startReplica('second')]
    const client = createClient(first.url, second.url)
    first.delaySeconds = 3
    expect(await client.select('SELECT 1')).toEqual([['second']])
    second.delaySeconds = 1
    expect(await client.select('SELECT 1')).toEqual([['first']])
  })

  test('the first one is used again when it is back', async () => {
    const port = findFreePort()
    const second = await startReplica('second')
    const client = createClient(`http://127.0.0.1:${port}/towpath`, second.url)
    expect(await client.select('SELECT 1')).toEqual([['second']])
    await startReplica('first', port)
    expect(await client.select('SELECT 1')).toEqual([['first']])
  })

  test('a question whose answer is lost is asked again elsewhere; an insert is not', async () => {
    const [first, second] = [await startReplica('first'), await startReplica('second')]
    const client = createClient(first.url, second.url)
    first.answer = () => {
      first.delaySeconds = 1
      return 'cut'
    }
    expect(await client.select('SELECT 1')).toEqual([['second']])
    first.delaySeconds = 0
    const error = await catchError(client.insert('INSERT INTO hits', data))
    expect(error).toMatchObject({ isAway: true, isUnsent: false })
    expect(second.statements).toEqual(['SELECT 1'])
  })

  test('none answers: the error says so', async () => {
    const error = await catchError(createClient(away(), away()).select('SELECT 1'))
    expect(error).toBeInstanceOf(ClickHouseError)
    expect(error).toMatchObject({ isAway: true, reason: 'ECONNREFUSED' })
  })
})

describe('one server', () => {
  test('that does not answer in time is not away, and is not asked again', async () => {
    const [first, second] = [await startReplica('first'), await startReplica('second')]
    first.answer = () => 'hang'
    const error = await catchError(createClient(first.url, second.url).select('SELECT 1', { timeoutMs: 50 }))
    expect(error).toMatchObject({ isAway: false, reason: 'TimeoutError' })
    expect([first.statements.length, second.statements.length]).toEqual([1, 0])
  })

  test('is left when the caller gives up, and when the client is closed', async () => {
    const first = await startReplica('first')
    first.answer = () => 'hang'
    const client = createClient(first.url)
    const caller = new AbortController()
    const given = catchError(client.select('SELECT 1', { signal: caller.signal }))
    const closed = catchError(client.select('SELECT 2'))
    caller.abort()
    expect(await given).toMatchObject({ reason: 'AbortError', isAway: false })
    await client.close()
    expect(await closed).toMatchObject({ reason: 'AbortError' })
  })

  test('gets user, password and database as headers, and cannot send them on', async () => {
    const first = await startReplica('first')
    first.answer = () => 'redirect'
    const url = first.url.replace('u:p@', 'us%40er:p%2Fw@')
    expect(await catchError(createClient(url).select('SELECT 1'))).toMatchObject({ code: 0, status: 307 })
    expect(first.headers).toMatchObject({
      'x-clickhouse-user': 'us@er',
      'x-clickhouse-key': 'p/w',
      'x-clickhouse-database': 'towpath',
    })
    expect(first.statements).toEqual(['SELECT 1'])
  })
})
