// The public socket. It answers plain requests itself, because a general HTTP server needs longer to parse them than
// to answer them. It relays every other request, byte for byte, to the general HTTP server. After an exchange with an
// uncertain end, the connection stays with that server.

import type { TCPSocketListener } from 'bun'
import type { Network } from '../../lib/ip-network.ts'
import { describeError, log } from '../../lib/log.ts'
import { unmapAddress } from '../../lib/parse-ip.ts'
import { enterFastPath, leaveFastPath } from '../../lib/telemetry/request-board.ts'
import { type ConnectionLimits, deriveConnectionLimits, readDescriptorLimit } from './connection-limits.ts'
import {
  type Client,
  type ConnectionCounts,
  type ConnectionState,
  type Connections,
  createConnections,
  endIdle,
} from './connections.ts'
import { openDescriptorReserve } from './descriptor-reserve.ts'
import type { Bytes } from './header-fields.ts'
import { createGetParser, createPostParser, type PostRequest, type RequestHead } from './request-parser.ts'
import { busyText, type FastRedirect, type FastResponse, redirectText, replyText } from './response-text.ts'
import { setListenerOptions } from './socket-options.ts'
import { startSupervision } from './supervision.ts'
import { openTcpRelay, type TcpRelay } from './tcp-relay.ts'

export interface FastPathOptions {
  hostname: string
  port: number
  /** Other processes may listen on the port too. The kernel gives each of them a part of the connections. */
  reusePort?: boolean
  /** The general HTTP server, on this machine. */
  behind: { hostname: string; port: number }
  /**
   * The answer to a request, or null if the general HTTP server must answer. In that case it must have no effect.
   * @param address of the peer
   */
  redirect: (head: RequestHead, address: string) => FastRedirect | null
  /** The same for a plain POST. An answer that comes later never rejects. */
  post?: (head: PostRequest, address: string) => FastResponse | Promise<FastResponse> | null
  /** Headers of every answer that `redirect` and `post` do not make, each with its line ending. */
  headers?: string
  idleSeconds: number
  /** Timeout of a relay without progress at one of its ends; 30 s by default. */
  progressMs?: number
  /** Grace period for idle keep-alive connections after `stop`; 250 ms by default. */
  stopGraceMs?: number
  /** By default computed from the process's limit on descriptors. */
  limits?: ConnectionLimits
  /** Trusted proxies have connections of many people, so the limit per address does not apply to them. */
  trusted?: Network[]
}

export interface FastPath {
  /** The client of a relayed connection, by the local port of the relay. */
  findPeerAddress(port: number): string | undefined
  counts(): ConnectionCounts
  /**
   * Accepts no more connections. An idle connection can send a last request within `stopGraceMs`. Resolves when no
   * connection is idle, and the general HTTP server has begun to answer all relayed requests. Before that it may not
   * know of a request, and must not stop.
   * @param force closes idle connections immediately
   */
  stop(force?: boolean): Promise<void>
}

interface State {
  options: FastPathOptions
  readHead: ReturnType<typeof createGetParser>
  readPost: ReturnType<typeof createPostParser>
  connections: Connections
  /** By the local port of the relay's connection. */
  peers: Map<number, { address: string }>
  /** How long an ended connection may take to receive its last answer. */
  progressMs: number
  /** The next request of each connection is its last. */
  stopping: boolean
  /** Idle connections are no longer allowed. */
  stopped: boolean
  /** Pending answers of the fast path. */
  answers: Set<Promise<void>>
}

/** The same as the idle timeout of Bun's server. */
const PROGRESS_MS = 30_000

/** A client's next request may already be in transit, and would get a reset. */
export const STOP_GRACE_MS = 250
const LOOK_EVERY_MS = 10

async function waitForLastRequests({ waiting }: Connections, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs
  while (waiting.size > 0 && performance.now() < deadline) await Bun.sleep(LOOK_EVERY_MS)
}

/** @throws if it cannot listen on the address */
export function openFastPath(options: FastPathOptions): FastPath {
  const {
    progressMs = PROGRESS_MS,
    stopGraceMs = STOP_GRACE_MS,
    limits = deriveConnectionLimits(readDescriptorLimit()),
  } = options
  const connections = createConnections(limits, options.trusted ?? [])
  const state: State = {
    options,
    readHead: createGetParser(),
    readPost: createPostParser(),
    connections,
    peers: new Map(),
    progressMs,
    stopping: false,
    stopped: false,
    answers: new Set(),
  }
  const listener = listenFor(state)
  setListenerOptions(options.port, progressMs)
  // Its connections stay idle as long as those of the clients.
  setListenerOptions(options.behind.port)
  const supervision = startSupervision(connections, openDescriptorReserve(), progressMs)
  return {
    findPeerAddress: (port) => state.peers.get(port)?.address,
    counts: () => connections.counts,
    async stop(force = false) {
      state.stopping = true
      listener.stop(false)
      supervision.stopWhenEmpty()
      if (!force) await waitForLastRequests(connections, stopGraceMs)
      state.stopped = true
      connections.endWaiting()
      const relays = Array.from(connections.relaying, ({ data }) => data.relay?.answerBegun())
      await Promise.all([...relays, ...state.answers])
    },
  }
}

function listenFor(state: State): TCPSocketListener<ConnectionState> {
  const { hostname, port, reusePort = false } = state.options
  const { connections } = state
  // Bun.listen honors `reusePort` (Linux: SO_REUSEPORT, socket(7)); its types do not have it.
  const address = { hostname, port, reusePort }
  return Bun.listen<ConnectionState>({
    ...address,
    // A half-closed client can still wait for its answer.
    allowHalfOpen: true,
    socket: {
      open: (client) => accept(state, client),
      data: (client, chunk) => receive(state, client, chunk),
      drain,
      end: clientEnded,
      timeout(client) {
        if (!client.data.relaying && !client.data.answering) endIdle(client)
      },
      close(client) {
        // A connection without data was never counted.
        if (!client.data) return
        client.data.ending = true
        connections.remove(client)
        client.data.relay?.close()
      },
      error(client, error) {
        log.warn('connection_failed', describeError(error))
        client.terminate()
      },
    },
  })
}

function accept(state: State, client: Client): void {
  // A client that has reset the connection before it was accepted has no address, and needs no answer.
  const address: string | undefined = client.remoteAddress
  const data = address === undefined ? null : state.connections.admit(unmapAddress(address))
  if (!data) return void client.terminate()
  client.data = data
  wait(state, client)
}

/** For the client's next request. */
function wait({ options, connections }: State, client: Client): void {
  client.timeout(options.idleSeconds)
  connections.wait(client)
}

function receive(state: State, client: Client, chunk: Buffer): void {
  const visitor = client.data
  // A refused connection can still send bytes.
  if (!visitor || visitor.ending) return
  if (visitor.answering) hold(client, chunk)
  else if (visitor.relaying) visitor.relay?.send(chunk)
  // The visitor sends another request before it has received the answer. Answers must stay in order.
  else if (visitor.unsent) client.terminate()
  else if (!answer(state, client, chunk as Bytes)) passOn(state, client, chunk)
}

function answer(state: State, client: Client, chunk: Bytes): boolean {
  enterFastPath(chunk)
  const answered = tryAnswer(state, client, chunk)
  leaveFastPath()
  return answered
}

/** @returns false if the general HTTP server must answer. In that case it had no effect */
function tryAnswer(state: State, client: Client, chunk: Bytes): boolean {
  const { options, readHead, readPost, stopping } = state
  const { address } = client.data
  const head = readHead(chunk)
  const redirect = head && options.redirect(head, address)
  if (redirect) {
    const keepAlive = head.keepAlive && !stopping
    return send(options, client, redirectText(redirect, keepAlive), keepAlive)
  }
  const post = head || !options.post ? null : readPost(chunk)
  const reply = post && options.post?.(post, address)
  if (!reply) return false
  if (reply instanceof Promise) {
    answerLater(state, client, post.keepAlive, reply)
    return true
  }
  const keepAlive = post.keepAlive && !stopping
  return send(options, client, replyText(reply, keepAlive), keepAlive)
}

function answerLater(state: State, client: Client, keptAlive: boolean, reply: Promise<FastResponse>): void {
  const visitor = client.data
  visitor.answering = true
  state.connections.answerLater(client)
  client.timeout(0)
  const answer = reply.then((response) => {
    state.answers.delete(answer)
    visitor.answering = false
    if (visitor.ending) return
    const keepAlive = keptAlive && !state.stopping && !visitor.endWhenSent
    send(state.options, client, replyText(response, keepAlive), keepAlive)
    if (!keepAlive) return
    wait(state, client)
    const { next } = visitor
    if (!next) return
    visitor.next = null
    client.resume()
    receive(state, client, next)
  })
  state.answers.add(answer)
}

/** Keeps a copy of bytes that arrive before the answer, because the socket reuses its buffer. */
function hold(client: Client, chunk: Buffer): void {
  const visitor = client.data
  visitor.next = visitor.next ? Buffer.concat([visitor.next, chunk]) : Buffer.from(chunk)
  client.pause()
}

function send(options: FastPathOptions, client: Client, text: string | Buffer, keepAlive: boolean): true {
  const visitor = client.data
  visitor.recent = true
  visitor.written += text.length
  // A socket's time runs on while it is busy, unless it is reset.
  client.timeout(options.idleSeconds)
  const sent = client.write(text)
  if (sent !== text.length) {
    const bytes = typeof text === 'string' ? Buffer.from(text, 'latin1') : text
    visitor.unsent = bytes.subarray(Math.max(sent, 0))
    visitor.endWhenSent = !keepAlive
  } else if (!keepAlive) client.end()
  return true
}

function drain(client: Client): void {
  const visitor = client.data
  if (!visitor) return
  if (visitor.relaying) visitor.relay?.drained()
  if (!visitor.unsent) return
  visitor.unsent = visitor.unsent.subarray(Math.max(client.write(visitor.unsent), 0))
  if (visitor.unsent.length > 0) return
  visitor.unsent = null
  if (visitor.endWhenSent) client.end()
}

/** The client sends no more. */
function clientEnded(client: Client): void {
  const visitor = client.data
  // Not a reset: it could overtake the last answer.
  if (!visitor || visitor.ending) client.end()
  else if (visitor.unsent || visitor.answering) visitor.endWhenSent = true
  else if (!visitor.relaying) client.end()
  else if (!visitor.relay?.clientEnded()) client.terminate()
  else visitor.endWhenSent = true
}

function passOn(state: State, client: Client, chunk: Buffer): void {
  const visitor = client.data
  const { connections } = state
  connections.relay(client)
  client.timeout(0)
  visitor.relaying = true
  if (visitor.relay?.sendNext(chunk)) return
  visitor.relay?.close()
  visitor.relay = connections.takeRelay(visitor.peer) ? openRelay(state, client, chunk) : null
  if (!visitor.relay) refuse(state, client)
}

function openRelay(state: State, client: Client, first: Buffer): TcpRelay {
  const { options, connections } = state
  const visitor = client.data
  const peer = { address: visitor.address }
  // The general HTTP server closes idle connections after `idleSeconds`.
  return openTcpRelay(
    client,
    first,
    { ...options.behind, restMs: options.idleSeconds * 500 },
    {
      opened: (port) => state.peers.set(port, peer),
      closed(port) {
        if (state.peers.get(port) === peer) state.peers.delete(port)
        connections.returnRelay(visitor.peer)
      },
      exchangeEnded() {
        if (visitor.endWhenSent || state.stopped) {
          client.end()
          return false
        }
        visitor.relaying = false
        wait(state, client)
        return true
      },
      failed: () => refuse(state, client),
    },
  )
}

/**
 * Answers 503, and closes the connection after the client has received it, because a reset could overtake the answer.
 */
function refuse({ connections, options, progressMs }: State, client: Client): void {
  const text = busyText(options.headers)
  client.data.ending = true
  client.resume()
  if (client.data.unsent || client.write(text) !== text.length) return void client.terminate()
  connections.ending.set(client, performance.now() + Math.min(progressMs, LINGER_MS))
  client.shutdown()
}

/** The same as nginx's `lingering_timeout`, for a client that is still sending. */
const LINGER_MS = 5_000
