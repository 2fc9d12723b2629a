// The socket that strangers talk to. It answers the plain requests that most visitors make by itself, since reading
// them costs a general HTTP server more than answering them, and passes every other request on, byte for byte, to the
// server behind it. After an exchange whose end is not certain, the connection stays with that server.

import type { Socket, TCPSocketListener } from 'bun'
import { describeError, log } from '../../lib/log.ts'
import type { Bytes } from './header-fields.ts'
import { createGetParser, createPostParser, type PostRequest, type RequestHead } from './request-parser.ts'
import { openTcpRelay, type TcpRelay } from './tcp-relay.ts'

export interface FastRedirect {
  status: number
  /** Printable ASCII without spaces. */
  location: string
  /** More of them, each with its line's end. */
  headers?: string
}

export interface FastResponse {
  status: number
  /** As they stand in an answer, each with its line's end. */
  headers: string
  /** ASCII. */
  body: string
}

export interface FastPathOptions {
  hostname: string
  port: number
  /** Where everything else goes, on this machine. */
  behind: { hostname: string; port: number }
  /**
   * The answer to a request, or null where the server behind must give it; then nothing may have happened yet.
   * @param address of the peer
   */
  redirect: (head: RequestHead, address: string) => FastRedirect | null
  /** The same for a plain POST. */
  post?: (head: PostRequest, address: string) => FastResponse | null
  idleSeconds: number
}

export interface FastPath {
  /** Who is at the other end of a connection that is relayed, by the port it is relayed from. */
  findPeerAddress(port: number): string | undefined
  /** Takes no connections any more and ends those that wait for a request. Those relayed are the other server's. */
  stop(): void
}

interface ConnectionState {
  address: string
  relay: TcpRelay | null
  /** While set, whatever comes goes to the relay. */
  relaying: boolean
  /** The part of an answer that the visitor has not taken yet. */
  unsent: Buffer | null
  endWhenSent: boolean
}

type Client = Socket<ConnectionState>

interface State {
  options: FastPathOptions
  readHead: ReturnType<typeof createGetParser>
  readPost: ReturnType<typeof createPostParser>
  /** By the port of a relay's connection to the server behind. */
  peers: Map<number, { address: string }>
  /** Connections that are not relayed. */
  waiting: Set<Client>
  stopped: boolean
}

/** @throws when the address cannot be listened on */
export function openFastPath(options: FastPathOptions): FastPath {
  const state: State = {
    options,
    readHead: createGetParser(),
    readPost: createPostParser(),
    peers: new Map(),
    waiting: new Set(),
    stopped: false,
  }
  const listener = listenFor(state)
  return {
    findPeerAddress: (port) => state.peers.get(port)?.address,
    stop() {
      state.stopped = true
      listener.stop(false)
      for (const client of state.waiting) client.end()
    },
  }
}

function listenFor(state: State): TCPSocketListener<ConnectionState> {
  const { hostname, port } = state.options
  return Bun.listen<ConnectionState>({
    hostname,
    port,
    socket: {
      open(client) {
        const address = client.remoteAddress
        client.data = { address, relay: null, relaying: false, unsent: null, endWhenSent: false }
        wait(state, client)
      },
      data: (client, chunk) => receive(state, client, chunk),
      drain,
      timeout(client) {
        if (!client.data.relaying) client.end()
      },
      close(client) {
        state.waiting.delete(client)
        client.data?.relay?.close()
      },
      error(client, error) {
        log.warn('connection_failed', describeError(error))
        client.terminate()
      },
    },
  })
}

/** For the client's next request. */
function wait({ options, waiting }: State, client: Client): void {
  client.timeout(options.idleSeconds)
  waiting.add(client)
}

function receive(state: State, client: Client, chunk: Buffer): void {
  const visitor = client.data
  if (visitor.relaying) visitor.relay?.send(chunk)
  // The visitor asks again before it has taken the answer. Answers must stay in order.
  else if (visitor.unsent) client.terminate()
  else if (!answer(state, client, chunk as Bytes)) passOn(state, client, chunk)
}

/** @returns false where the server behind must answer; then nothing has happened yet */
function answer({ options, readHead, readPost }: State, client: Client, chunk: Bytes): boolean {
  const { address } = client.data
  const head = readHead(chunk)
  const redirect = head && options.redirect(head, address)
  if (redirect) return send(options, client, redirectText(redirect, head.keepAlive), head.keepAlive)
  const post = head || !options.post ? null : readPost(chunk)
  const reply = post && options.post?.(post, address)
  return reply ? send(options, client, replyText(reply, post.keepAlive), post.keepAlive) : false
}

function send(options: FastPathOptions, client: Client, text: string, keepAlive: boolean): true {
  // A socket's time runs on while it is busy, unless it is set anew.
  client.timeout(options.idleSeconds)
  const sent = client.write(text)
  if (sent !== text.length) {
    client.data.unsent = Buffer.from(text, 'latin1').subarray(Math.max(sent, 0))
    client.data.endWhenSent = !keepAlive
  } else if (!keepAlive) client.end()
  return true
}

function drain(client: Client): void {
  const visitor = client.data
  if (visitor.relaying) visitor.relay?.drained()
  if (!visitor.unsent) return
  visitor.unsent = visitor.unsent.subarray(Math.max(client.write(visitor.unsent), 0))
  if (visitor.unsent.length > 0) return
  visitor.unsent = null
  if (visitor.endWhenSent) client.end()
}

function passOn(state: State, client: Client, chunk: Buffer): void {
  const visitor = client.data
  state.waiting.delete(client)
  client.timeout(0)
  visitor.relaying = true
  if (visitor.relay?.sendNext(chunk)) return
  visitor.relay?.close()
  visitor.relay = openRelay(state, client, chunk)
}

function openRelay(state: State, client: Client, first: Buffer): TcpRelay {
  const { behind, idleSeconds } = state.options
  const peer = { address: client.data.address }
  // The server behind lets idle connections go after `idleSeconds`.
  return openTcpRelay(
    client,
    first,
    { ...behind, restMs: idleSeconds * 500 },
    {
      opened: (port) => state.peers.set(port, peer),
      closed(port) {
        if (state.peers.get(port) === peer) state.peers.delete(port)
      },
      exchangeEnded() {
        if (state.stopped) return false
        client.data.relaying = false
        wait(state, client)
        return true
      },
    },
  )
}

const REASONS: Record<number, string> = {
  200: 'OK',
  301: 'Moved Permanently',
  302: 'Found',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  404: 'Not Found',
  413: 'Content Too Large',
  429: 'Too Many Requests',
}

function redirectText({ status, location, headers = '' }: FastRedirect, keepAlive: boolean): string {
  const end = keepAlive ? '' : 'Connection: close\r\n'
  return `HTTP/1.1 ${status} ${REASONS[status] ?? 'Redirect'}\r\nLocation: ${location}\r\nCache-Control: private, no-store\r\n${headers}Date: ${httpDate()}\r\nContent-Length: 0\r\n${end}\r\n`
}

function replyText({ status, headers, body }: FastResponse, keepAlive: boolean): string {
  const end = keepAlive ? '' : 'Connection: close\r\n'
  return `HTTP/1.1 ${status} ${REASONS[status] ?? 'Answer'}\r\n${headers}Date: ${httpDate()}\r\nContent-Length: ${body.length}\r\n${end}\r\n${body}`
}

let date = ''
let dateSecond = 0

/** Made once a second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    date = new Date(second * 1000).toUTCString()
  }
  return date
}
