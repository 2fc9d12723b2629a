// Connections to PostgreSQL without session state: no session settings, session locks, LISTEN or named statements. A pooler
// in between can give each transaction another connection of the server (PgBouncer in transaction mode).

import { createConnection } from 'node:net'
import pg from 'pg'
import { describeError, log } from '../../lib/log.ts'

// Also the time that a request waits for a connection when all of them are busy.
const CONNECT_MS = 5_000

// Parses bigint, numeric (the type of sums) and bigint[] as numbers: ids and counters are far below 2^53.
const NUMBER_PARSERS: Record<number, (text: string) => unknown> = {
  20: Number,
  1700: Number,
  1016: (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)),
}

/** The code of a cancel request: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const CANCEL_REQUEST = 80_877_102

/** PostgreSQL's key of the connection; the driver's types leave it out. */
interface ConnectionKey {
  host: string
  port: number
  processID: number
  secretKey: number
}

/**
 * Cancels a query that got no answer in time, and closes its connection. The driver alone would give the connection to the
 * next request, which would wait for this query.
 */
class CancelingClient extends pg.Client {
  override query(...args: never[]): never {
    const result: unknown = super.query(...(args as unknown as [string]))
    const canceled = result instanceof Promise ? result.catch((error) => this.#cancelIfLate(error)) : result
    return canceled as never
  }

  async #cancelIfLate(error: unknown): Promise<never> {
    if (!(error instanceof Error && error.message === 'Query read timeout')) throw error
    log.warn('postgres_query_cancelled')
    // Cancel first: a pooler does not know a closed connection any more.
    await requestCancel(this as unknown as ConnectionKey)
    void this.end()
    throw error
  }
}

/** Resolves when the server has accepted the request, or cannot be reached. */
function requestCancel({ host, port, processID, secretKey }: ConnectionKey): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = host.startsWith('/')
    ? createConnection(`${host}/.s.PGSQL.${port}`)
    : createConnection(port, host)
  const request = Buffer.alloc(16)
  for (const [i, value] of [request.length, CANCEL_REQUEST, processID, secretKey].entries())
    request.writeInt32BE(value, 4 * i)
  socket.on('error', (error) => log.warn('postgres_query_goes_on', describeError(error)))
  socket.on('close', () => resolve())
  socket.setTimeout(CONNECT_MS, () => socket.destroy())
  socket.write(request)
  // The server answers nothing, and closes the connection.
  socket.resume()
  return promise
}

interface PoolOptions {
  /** Sends a statement without waiting for the answers to those before it. */
  pipeline?: boolean
}

/** @param answerMs time limit of a statement, after which its connection is closed; 0: no limit */
export function openPool(url: string, max: number, answerMs: number, options: PoolOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    ...options,
    connectionString: url,
    Client: CancelingClient,
    max,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: answerMs === 0 ? undefined : answerMs,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) =>
        NUMBER_PARSERS[oid] ?? pg.types.getTypeParser(oid as never, format as never),
    },
  })
  // Without a listener, the loss of a connection during a transaction would crash the process.
  pool.on('connect', (client) =>
    client.on('error', (error) => log.warn('postgres_connection_lost', describeError(error))),
  )
  // The listener of the connection has logged the error. The pool has removed the connection.
  pool.on('error', () => {})
  return pool
}
