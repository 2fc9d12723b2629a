// The socket that strangers talk to. It answers the plain requests that most visitors make by itself, since reading
// them costs a general HTTP server more than answering them, and passes every other connection on, byte for byte and
// for the rest of its life, to the server behind it.

import type { Socket, TCPSocketListener } from 'bun'
import { describeError, log } from '../../lib/log.ts'
import {
  type Bytes,
  createGetParser,
  createPostParser,
  type PostRequest,
  type RequestHead,
} from './request-parser.ts'
import { openTcpRelay, type TcpRelay } from './tcp-relay.ts'

export interface FastRedirect {
  status: number
  /** Printable ASCII without spaces. */
  location: string
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
  /** Who is at the other end of a connection that was passed on, by the port it was passed on from. */
  findPeerAddress(port: number): string | undefined
  /** Takes no connections any more and ends those that wait for a request. Those passed on are the other server's. */
  stop(): void
}

interface ConnectionState {
  address: string
  /** Once set, whatever comes goes there. */
  relay: TcpRelay | null
  /** Of an answer, what the visitor has not taken yet. */
  unsent: Buffer | null
  endWhenSent: boolean
}

type Client = Socket<ConnectionState>

/** @throws when the address cannot be listened on */
export function openFastPath(options: FastPathOptions): FastPath {
  const readHead = createGetParser()
  const readPost = createPostParser()
  const peers = new Map<number, string>()
  const waiting = new Set<Client>()

  function send(client: Client, answer: string, keepAlive: boolean) {
    const sent = client.write(answer)
    if (sent === answer.length) {
      if (!keepAlive) client.end()
      return
    }
    client.data.unsent = Buffer.from(answer, 'latin1').subarray(Math.max(sent, 0))
    client.data.endWhenSent = !keepAlive
  }

  function passOn(client: Client, chunk: Buffer) {
    waiting.delete(client)
    client.timeout(0)
    client.data.relay = openTcpRelay(client, chunk, options.behind, {
      opened: (port) => peers.set(port, client.data.address),
      closed: (port) => peers.delete(port),
    })
  }

  function receive(client: Client, chunk: Buffer) {
    const visitor = client.data
    if (visitor.relay) return visitor.relay.send(chunk)
    // Whoever asks again before taking the answer: answers must stay in order.
    if (visitor.unsent) return client.terminate()
    const head = readHead(chunk as Bytes)
    const redirect = head && options.redirect(head, visitor.address)
    if (redirect) return send(client, redirectText(redirect, head.keepAlive), head.keepAlive)
    const post = head || !options.post ? null : readPost(chunk as Bytes)
    const reply = post && options.post?.(post, visitor.address)
    if (reply) return send(client, replyText(reply, post.keepAlive), post.keepAlive)
    passOn(client, chunk)
  }

  const listener: TCPSocketListener<ConnectionState> = Bun.listen<ConnectionState>({
    hostname: options.hostname,
    port: options.port,
    socket: {
      open(client) {
        client.data = { address: client.remoteAddress, relay: null, unsent: null, endWhenSent: false }
        client.timeout(options.idleSeconds)
        waiting.add(client)
      },
      data: receive,
      drain(client) {
        const visitor = client.data
        if (visitor.relay) return visitor.relay.drained()
        if (!visitor.unsent) return
        visitor.unsent = visitor.unsent.subarray(Math.max(client.write(visitor.unsent), 0))
        if (visitor.unsent.length > 0) return
        visitor.unsent = null
        if (visitor.endWhenSent) client.end()
      },
      timeout(client) {
        if (!client.data.relay) client.end()
      },
      close(client) {
        waiting.delete(client)
        client.data?.relay?.close()
      },
      error(client, error) {
        log.warn('connection_failed', describeError(error))
        client.terminate()
      },
    },
  })

  return {
    findPeerAddress: (port) => peers.get(port),
    stop() {
      listener.stop(false)
      for (const client of waiting) client.end()
    },
  }
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

function redirectText({ status, location }: FastRedirect, keepAlive: boolean): string {
  const end = keepAlive ? '' : 'Connection: close\r\n'
  return `HTTP/1.1 ${status} ${REASONS[status] ?? 'Redirect'}\r\nLocation: ${location}\r\nCache-Control: private, no-store\r\nDate: ${httpDate()}\r\nContent-Length: 0\r\n${end}\r\n`
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
