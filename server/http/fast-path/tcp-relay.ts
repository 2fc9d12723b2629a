// Passes a connection on to another server of this machine, byte for byte, no faster than the slower end takes them.

import type { Socket } from 'bun'
import { describeError, log } from '../../lib/log.ts'

export interface TcpRelay {
  /** Towards the server. */
  send(chunk: Buffer): void
  /** The client takes more. */
  drained(): void
  /** The client is gone. */
  close(): void
}

/** One direction: what the taking end has not taken yet, while the giving end is held. */
interface Direction {
  rest: Buffer | null
  /** The giving end is gone: when the rest is sent, the taking end goes too. */
  ended: boolean
}

type End = Pick<Socket<unknown>, 'write' | 'pause' | 'resume' | 'end' | 'terminate'>

/**
 * @param first bytes that have come already
 * @param on called with the local port of the connection to the server, before a byte goes over it
 */
export function openTcpRelay(
  client: End,
  first: Buffer,
  to: { hostname: string; port: number },
  on: { opened(port: number): void; closed(port: number): void },
): TcpRelay {
  let server: Socket<undefined> | null = null
  let port = 0
  let gone = false
  const up: Direction = { rest: Buffer.from(first), ended: false }
  const down: Direction = { rest: null, ended: false }

  // Until the server has taken the first bytes no others come.
  client.pause()

  function flush(flow: Direction, giver: End | null, taker: End) {
    if (flow.rest) {
      flow.rest = copyUnsent(flow.rest, taker.write(flow.rest))
      if (flow.rest) return
      giver?.resume()
    }
    if (flow.ended) taker.end()
  }

  function pass(flow: Direction, chunk: Buffer, giver: End, taker: End) {
    if (flow.rest) {
      flow.rest = Buffer.concat([flow.rest, chunk])
      return
    }
    flow.rest = copyUnsent(chunk, taker.write(chunk))
    if (flow.rest) giver.pause()
  }

  function serverGone() {
    if (gone) return
    down.ended = true
    flush(down, null, client)
  }

  Bun.connect<undefined>({
    hostname: to.hostname,
    port: to.port,
    socket: {
      open(socket) {
        if (gone) return void socket.terminate()
        server = socket
        port = socket.localPort
        on.opened(port)
        flush(up, client, socket)
      },
      data: (socket, chunk) => {
        if (!gone) pass(down, chunk, socket, client)
      },
      drain: (socket) => flush(up, client, socket),
      close() {
        on.closed(port)
        serverGone()
      },
      error(_, error) {
        log.warn('relay_failed', describeError(error))
        client.terminate()
      },
    },
  }).catch((error) => {
    log.error('relay_failed', describeError(error))
    client.terminate()
  })

  return {
    send(chunk) {
      if (server) pass(up, chunk, client, server)
      else up.rest = Buffer.concat([up.rest ?? Buffer.alloc(0), chunk])
    },
    drained() {
      flush(down, server, client)
    },
    close() {
      gone = true
      server?.end()
    },
  }
}

/** A copy of what was not written: the buffer is the socket's, and used again. @param sent -1 where the end is gone */
function copyUnsent(chunk: Buffer, sent: number): Buffer | null {
  const rest = chunk.subarray(Math.max(sent, 0))
  return rest.length > 0 ? Buffer.from(rest) : null
}
