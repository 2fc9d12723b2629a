// Relays a connection to another server on this machine, byte for byte, with back-pressure. When a request and its
// answer have certainly ended, the relay is idle: the fast path can answer the client, and the connection to the
// server waits for the next relayed request.

import type { Socket } from 'bun'
import { describeError, log } from '../../lib/log.ts'
import { freeBuffer } from '../../lib/memory/free-buffer.ts'
import { applyTargetHost, REFUSED_TARGET } from './absolute-target.ts'
import { createExchange, type Exchange, hasEnded, readFromClient, readFromServer } from './exchange.ts'
import type { Bytes } from './header-fields.ts'
import { addBytes, createProgress, type Progress } from './progress.ts'
import { CHUNKS_END } from './request-framing.ts'

/** A part of an upload. Smaller chunks are no trouble to the garbage collector. */
const LARGE_BYTES = 16 * 1024

export interface TcpRelay {
  /** Towards the server. The relay takes ownership of the chunk. */
  send(chunk: Buffer): void
  /**
   * The first bytes of another request, while the relay is idle.
   * @returns false if the server may be about to close the connection. In that case nothing was sent
   */
  sendNext(first: Buffer): boolean
  /** The client can receive more. */
  drained(): void
  /** The client is half-closed, and can still wait for its answer. @returns false if no answer can come */
  clientEnded(): boolean
  isResting(): boolean
  /**
   * Resolves when the server has begun to answer, or will not answer because the relay is closed or the client has
   * sent only a part of a head.
   */
  answerBegun(): Promise<void>
  /** How long one end has made the other wait; 0 if neither waits. */
  stalledMs(nowMs: number): number
  /** The client has disconnected, or has another relay. */
  close(): void
}

export interface RelayEvents {
  /** Called with the local port of the connection to the server, before a byte goes over it. */
  opened(port: number): void
  /** Called once for each relay, even if it failed to open. The port is then 0. */
  closed(port: number): void
  /** A request and its answer have ended. @returns false if the relay must stay permanently */
  exchangeEnded(): boolean
  /** The server cannot be reached. Nothing was sent to it. */
  failed(): void
}

export interface RelayOptions {
  hostname: string
  port: number
  /** A relay that has been idle longer than this is not reused, because the server closes idle connections. */
  restMs: number
}

/** One direction: the bytes that the receiving end has not accepted yet, while the sending end is paused. */
interface Direction {
  rest: Buffer | null
  /** The buffer whose tail is the rest. */
  held: Buffer | null
  /** The sending end is closed. After the rest is sent, the receiving end is closed too. */
  ended: boolean
  /** Progress of the receiving end. */
  progress: Progress
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
  /** Null if the end of the current exchange is uncertain. The relay then stays permanently. */
  exchange: Exchange | null
  /** The first bytes of a request, until it is known whether its target names a host. */
  start: Bytes | null
  /** The request was replaced with one that is refused. Later bytes are discarded. */
  refused: boolean
  up: Direction
  down: Direction
  /** Progress of the client's request. */
  request: Progress
  /** Time of the last part of a request with an uncertain end. */
  lateMs: number
  /** The server has sent bytes since the client's last bytes. */
  answered: boolean
  /** A caller waits for the beginning of an answer. */
  begun: PromiseWithResolvers<void> | null
  /** The server has answered before it had the whole request. */
  answeredEarly: boolean
  /** The last characters of a request whose body comes in chunks; null for other requests. */
  chunksEnd: string | null
  /** Progress of the answer after the client is half-closed; null before. */
  lastAnswer: Progress | null
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
    start: null,
    refused: false,
    up: { rest: null, held: null, ended: false, progress: createProgress() },
    down: { rest: null, held: null, ended: false, progress: createProgress() },
    request: createProgress(),
    lateMs: 0,
    answered: true,
    begun: null,
    answeredEarly: false,
    chunksEnd: null,
    lastAnswer: null,
  }
  // No other bytes arrive until the server has accepted the first ones.
  client.pause()
  begin(state, first)
  connect(state, options)
  return {
    send(chunk) {
      send(state, chunk)
      if (chunk.length >= LARGE_BYTES) freeBuffer(chunk)
    },
    sendNext(chunk) {
      if (state.phase !== 'resting' || performance.now() - state.restingSinceMs > options.restMs) return false
      begin(state, chunk)
      return true
    },
    drained() {
      flush(state.down, state.server, client)
      restIfEnded(state)
    },
    clientEnded: () => clientEnded(state),
    isResting: () => state.phase === 'resting',
    answerBegun: () => answerBegun(state),
    stalledMs: (nowMs) => stalledMs(state, nowMs),
    close: () => close(state),
  }
}

function begin(state: State, first: Buffer): void {
  state.phase = 'passing'
  state.exchange = createExchange()
  state.start = NOTHING
  state.answered = true
  send(state, first)
}

function send(state: State, chunk: Buffer): void {
  noteRequest(state, chunk.length)
  const passed = state.start ? readStart(state, state.start, chunk) : chunk
  if (passed && !state.refused) forward(state, passed)
  if (passed === REFUSED_TARGET) state.refused = true
}

const NOTHING = Buffer.alloc(0) as Bytes

function readStart(state: State, start: Bytes, chunk: Buffer): Buffer | null {
  const bytes = (start.length > 0 ? Buffer.concat([start, chunk]) : chunk) as Bytes
  const passed = applyTargetHost(bytes)
  // A copy: the socket uses its buffer again.
  state.start = passed ? null : (Buffer.from(bytes) as Bytes)
  return passed
}

function forward(state: State, chunk: Buffer): void {
  const { exchange, up, client, server } = state
  if (exchange && !readFromClient(exchange, chunk)) {
    state.exchange = null
    state.chunksEnd = exchange.request.chunked ? '' : null
  }
  if (state.chunksEnd !== null) {
    const end = chunk.toString('latin1', Math.max(0, chunk.length - CHUNKS_END.length))
    state.chunksEnd = (state.chunksEnd + end).slice(-CHUNKS_END.length)
  }
  if (server && !up.rest) pass(up, chunk, client, server)
  else hold(up, chunk)
}

function noteRequest(state: State, bytes: number): void {
  if (state.answered) {
    // The beginning of the next request, as far as one can tell.
    state.answered = false
    state.chunksEnd = null
    state.request = createProgress()
    state.lateMs = 0
  } else if (!state.exchange) state.lateMs = performance.now() - state.request.sinceMs
  addBytes(state.request, bytes)
}

function receive(state: State, chunk: Buffer, server: End): void {
  const { exchange, client, down, phase } = state
  if (phase === 'closed') return
  if (phase === 'resting') {
    // Unsolicited bytes. If relayed, they would look like the answer to the client's next request.
    log.warn('relay_failed', { error: 'the server sent bytes after the end of its answer' })
    client.terminate()
    return
  }
  state.answered = true
  state.begun?.resolve()
  state.lateMs = 0
  if (isCutInChunks(state)) state.answeredEarly = true
  if (state.lastAnswer) addBytes(state.lastAnswer, chunk.length)
  // An answer before the whole request is with the server is an answer to something else.
  if (exchange && (state.up.rest || !readFromServer(exchange, chunk))) {
    state.answeredEarly = exchange.request.state !== 'complete'
    state.exchange = null
  }
  if (down.rest) hold(down, chunk)
  else pass(down, chunk, server, client)
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

const isCutInChunks = ({ chunksEnd }: State) => chunksEnd !== null && chunksEnd !== CHUNKS_END

/** The server is not informed, because it would close the connection without an answer. */
function clientEnded(state: State): boolean {
  // A part of a request gets no answer. Where the end cannot be told, the server may have all of it.
  if (state.exchange && state.exchange.request.state !== 'complete') return false
  if (isCutInChunks(state) && !state.answeredEarly) return false
  // The server has refused a part of a request. Without this it would wait for the rest, which cannot come any more.
  if (state.answeredEarly) state.server?.end()
  state.lastAnswer = createProgress()
  return true
}

async function answerBegun(state: State): Promise<void> {
  const { phase, answered, exchange } = state
  if (phase !== 'passing' || answered || exchange?.request.state === 'head') return
  state.begun ??= Promise.withResolvers()
  await state.begun.promise
}

function stalledMs(state: State, nowMs: number): number {
  const { up, down, exchange, request, lastAnswer } = state
  const incomplete = exchange !== null && exchange.request.state !== 'complete'
  return Math.max(
    up.rest ? nowMs - up.progress.sinceMs : 0,
    down.rest ? nowMs - down.progress.sinceMs : 0,
    incomplete ? nowMs - request.sinceMs : state.lateMs,
    lastAnswer ? nowMs - lastAnswer.sinceMs : 0,
  )
}

/** The server sends no more. */
function setClosed(state: State): void {
  state.phase = 'closed'
  state.begun?.resolve()
}

function close(state: State): void {
  const { up, exchange, server } = state
  setClosed(state)
  // A whole request still reaches the server, which may store it. A part of one is of no use to it.
  if (up.rest || (exchange && exchange.request.state !== 'complete')) server?.terminate()
  else server?.end()
}

function connect(state: State, { hostname, port }: RelayOptions): void {
  const { client, events, up } = state
  let isCounted = true
  const release = () => {
    if (isCounted) events.closed(state.port)
    isCounted = false
  }
  Bun.connect<undefined>({
    hostname,
    port,
    socket: {
      open(socket) {
        state.server = socket
        state.port = socket.localPort
        if (state.phase === 'closed') return void socket.terminate()
        events.opened(state.port)
        if (up.rest) flush(up, client, socket)
        else client.resume()
      },
      data: (socket, chunk) => receive(state, chunk, socket),
      drain: (socket) => flush(up, client, socket),
      close() {
        release()
        serverGone(state)
      },
      error(_, error) {
        log.warn('relay_failed', describeError(error))
        if (state.phase === 'passing') client.terminate()
      },
    },
  }).catch((error) => {
    log.error('relay_failed', describeError(error))
    release()
    if (state.phase !== 'closed') events.failed()
    setClosed(state)
  })
}

function serverGone(state: State): void {
  const { client, down, phase } = state
  setClosed(state)
  if (phase !== 'passing') return
  down.ended = true
  flush(down, null, client)
}

function flush(flow: Direction, giver: End | null, taker: End): void {
  if (flow.rest) {
    // -1 where the end is gone.
    const sent = taker.write(flow.rest)
    addBytes(flow.progress, sent)
    flow.rest = sent < flow.rest.length ? flow.rest.subarray(Math.max(sent, 0)) : null
    if (flow.rest) return
    if (flow.held) freeBuffer(flow.held)
    flow.held = null
    giver?.resume()
  }
  if (flow.ended) taker.end()
}

function pass(flow: Direction, chunk: Buffer, giver: End, taker: End): void {
  const sent = taker.write(chunk)
  if (sent === chunk.length) return
  giver.pause()
  hold(flow, chunk.subarray(Math.max(sent, 0)))
}

/** Keeps a copy, because the socket reuses its buffer. */
function hold(flow: Direction, chunk: Buffer): void {
  const isFirst = !flow.rest
  flow.held = Buffer.concat(flow.rest ? [flow.rest, chunk] : [chunk])
  flow.rest = flow.held
  if (isFirst) flow.progress = createProgress()
}
