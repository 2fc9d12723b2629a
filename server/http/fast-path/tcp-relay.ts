// Passes a connection on to another server of this machine, byte for byte, no faster than the slower end takes them.
// When a request and its answer have ended for certain, the relay rests: the client may be answered by others then,
// and the connection to the server waits for the next request.

import type { Socket } from 'bun'
import { describeError, log } from '../../lib/log.ts'
import { createExchange, type Exchange, hasEnded, readFromClient, readFromServer } from './exchange.ts'

export interface TcpRelay {
  /** Towards the server. */
  send(chunk: Buffer): void
  /**
   * The first bytes of another request, while the relay rests.
   * @returns false where the server may be about to end the connection; then nothing was sent
   */
  sendNext(first: Buffer): boolean
  /** The client takes more. */
  drained(): void
  /** The client is gone, or has another relay. */
  close(): void
}

export interface RelayEvents {
  /** Called with the local port of the connection to the server, before a byte goes over it. */
  opened(port: number): void
  closed(port: number): void
  /** A request and its answer have ended. @returns false where the relay must go on for good */
  exchangeEnded(): boolean
}

export interface RelayOptions {
  hostname: string
  port: number
  /** A relay that has rested longer than this is not used again: the server ends idle connections, too. */
  restMs: number
}

/** One direction: what the taking end has not taken yet, while the giving end is held. */
interface Direction {
  rest: Buffer | null
  /** The giving end is gone: when the rest is sent, the taking end goes too. */
  ended: boolean
}

type End = Pick<Socket<unknown>, 'write' | 'pause' | 'resume' | 'end' | 'terminate'>

interface State {
  client: End
  events: RelayEvents
  server: Socket<undefined> | null
  /** The local port of the connection to the server. */
  port: number
  phase: 'passing' | 'resting' | 'closed'
  restingSinceMs: number
  /** Null where the end of the present exchange cannot be told: the relay goes on for good. */
  exchange: Exchange | null
  up: Direction
  down: Direction
}

/** @param first bytes that have come already */
export function openTcpRelay(
  client: End,
  first: Buffer,
  options: RelayOptions,
  events: RelayEvents,
): TcpRelay {
  const state: State = {
    client,
    events,
    server: null,
    port: 0,
    phase: 'passing',
    restingSinceMs: 0,
    exchange: null,
    up: { rest: null, ended: false },
    down: { rest: null, ended: false },
  }
  // Until the server has taken the first bytes no others come.
  client.pause()
  begin(state, first)
  connect(state, options)
  return {
    send: (chunk) => send(state, chunk),
    sendNext(chunk) {
      if (state.phase !== 'resting' || performance.now() - state.restingSinceMs > options.restMs) return false
      begin(state, chunk)
      return true
    },
    drained() {
      flush(state.down, state.server, client)
      restIfEnded(state)
    },
    close() {
      state.phase = 'closed'
      state.server?.end()
    },
  }
}

function begin(state: State, first: Buffer): void {
  state.phase = 'passing'
  state.exchange = createExchange()
  send(state, first)
}

function send(state: State, chunk: Buffer): void {
  const { exchange, up, client, server } = state
  if (exchange && !readFromClient(exchange, chunk)) state.exchange = null
  if (server) pass(up, chunk, client, server)
  else up.rest = Buffer.concat([up.rest ?? Buffer.alloc(0), chunk])
}

function receive(state: State, chunk: Buffer, server: End): void {
  const { exchange, client, down, phase } = state
  if (phase === 'closed') return
  if (phase === 'resting') {
    // Nobody asked. Passed on, this would be taken for the answer to the client's next request.
    log.warn('relay_failed', { error: 'the server sent bytes after the end of its answer' })
    client.terminate()
    return
  }
  // An answer before the whole request is with the server is an answer to something else.
  if (exchange && (state.up.rest || !readFromServer(exchange, chunk))) state.exchange = null
  pass(down, chunk, server, client)
  restIfEnded(state)
}

function restIfEnded(state: State): void {
  const { exchange, up, down, phase, events } = state
  if (phase !== 'passing' || !exchange || !hasEnded(exchange) || up.rest || down.rest) return
  state.exchange = null
  if (!events.exchangeEnded()) return
  state.phase = 'resting'
  state.restingSinceMs = performance.now()
}

function connect(state: State, { hostname, port }: RelayOptions): void {
  const { client, events, up } = state
  Bun.connect<undefined>({
    hostname,
    port,
    socket: {
      open(socket) {
        if (state.phase === 'closed') return void socket.terminate()
        state.server = socket
        state.port = socket.localPort
        events.opened(state.port)
        flush(up, client, socket)
      },
      data: (socket, chunk) => receive(state, chunk, socket),
      drain: (socket) => flush(up, client, socket),
      close() {
        events.closed(state.port)
        serverGone(state)
      },
      error(_, error) {
        log.warn('relay_failed', describeError(error))
        if (state.phase === 'passing') client.terminate()
      },
    },
  }).catch((error) => {
    log.error('relay_failed', describeError(error))
    client.terminate()
  })
}

function serverGone(state: State): void {
  const { client, down, phase } = state
  state.phase = 'closed'
  if (phase !== 'passing') return
  down.ended = true
  flush(down, null, client)
}

function flush(flow: Direction, giver: End | null, taker: End): void {
  if (flow.rest) {
    flow.rest = copyUnsent(flow.rest, taker.write(flow.rest))
    if (flow.rest) return
    giver?.resume()
  }
  if (flow.ended) taker.end()
}

function pass(flow: Direction, chunk: Buffer, giver: End, taker: End): void {
  if (flow.rest) {
    flow.rest = Buffer.concat([flow.rest, chunk])
    return
  }
  flow.rest = copyUnsent(chunk, taker.write(chunk))
  if (flow.rest) giver.pause()
}

/** A copy of what was not written: the buffer is the socket's, and used again. @param sent -1 where the end is gone */
function copyUnsent(chunk: Buffer, sent: number): Buffer | null {
  const rest = chunk.subarray(Math.max(sent, 0))
  return rest.length > 0 ? Buffer.from(rest) : null
}
