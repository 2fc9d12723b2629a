// Opens the public socket, by default for IPv6 and IPv4. With the fast path, the socket answers plain redirects and
// passes all else on to `Bun.serve`, which then listens on this machine only. Without the fast path, `Bun.serve` has
// the public address itself. `INNER_PORT` is a second address of `Bun.serve`, for balancers that keep connections and
// use them for the requests of many people.

import { toErrorResponse } from '../http/error-response.ts'
import { readConnectionMetrics } from '../http/fast-path/connection-metrics.ts'
import { type FastPath, openFastPath, STOP_GRACE_MS } from '../http/fast-path/listener.ts'
import { setListenerOptions } from '../http/fast-path/socket-options.ts'
import { requestId } from '../http/request-id.ts'
import type { ServerHandle } from '../http/server-handle.ts'
import type { Network } from '../lib/ip-network.ts'
import { describeError, log } from '../lib/log.ts'
import { unmapAddress } from '../lib/parse-ip.ts'
import type { App } from './routes.ts'

const LOCAL = '127.0.0.1'

// In seconds. Long enough for slow uploads, and short enough against clients that send a request byte by byte.
const IDLE_SECONDS = 30

const OPTIONS = {
  error: (error: Error) => toErrorResponse(error, requestId(null)),
  // Bun's own error page shows source code.
  development: false,
  idleTimeout: IDLE_SECONDS,
  // Larger than every route allows, so that each route can refuse a large body in its own words. An import streams two
  // files of up to 1 GiB to the disk; every other route stops reading at its own, much smaller limit.
  maxRequestBodySize: 3 * 1024 ** 3,
}

export interface ListenOptions {
  /** Absent for every address of this machine. */
  host?: string
  port: number
  fastPath: boolean
  /** Proxies, whose connections are those of many people. */
  trustProxy?: Network[]
  /** A second port, which `Bun.serve` has to itself. */
  innerPort?: number
  /** Other processes of this installation may listen on the same ports. */
  reusePort?: boolean
  /** Grace period for idle keep-alive connections after `stop`. */
  stopGraceMs?: number
}

export interface Listener {
  /** Accepts no further connections. Resolves when the running requests have answers; with `force`, at once. */
  stop(force: boolean): Promise<void>
}

type Listening = Pick<App, 'serve' | 'fastPath' | 'setConnectionMetrics'>

/** Finds the client of a connection to `Bun.serve`. */
type FindClient = (peer: { address: string; port: number }) => string | undefined

/** The error for the operator when it cannot listen on an address. */
export class ListenError extends Error {
  /** @param settings the names of the settings with the address */
  constructor(settings: string, host: string | undefined, port: number, cause: unknown) {
    const address = `${host ?? 'every address'}, port ${port}`
    const reason = describeError(cause).error
    super(
      `${settings}: ${address} cannot be used (${reason}). Stop the program that uses it, or set another.`,
    )
  }
}

/** @throws ListenError */
export function listen(options: ListenOptions, app: Listening): Listener {
  const { host, port, innerPort } = options
  const listeners: Listener[] = []
  const open = (settings: string, number: number, openOn: (host: string) => Listener) => {
    try {
      listeners.push(listenOnHost(host, openOn))
    } catch (error) {
      for (const listener of listeners) void listener.stop(true)
      throw new ListenError(settings, host, number, error)
    }
  }
  const openPublic = options.fastPath ? listenWithFastPath : listenDirectly
  // The inner port comes first: it must be there when the public one answers the first request.
  if (innerPort !== undefined)
    open('HOST, INNER_PORT', innerPort, (host) => listenDirectly({ ...options, host, port: innerPort }, app))
  open('HOST, PORT', port, (host) => openPublic({ ...options, host }, app))
  return {
    async stop(force) {
      await Promise.all(listeners.map((listener) => listener.stop(force)))
    },
  }
}

type OnOneHost = ListenOptions & { host: string }

/**
 * Without a host, listens on `::`, which takes IPv4 connections as well (Bun switches IPV6_V6ONLY off), and on `0.0.0.0`
 * where the machine has no IPv6.
 */
export function listenOnHost<T>(host: string | undefined, open: (host: string) => T): T {
  if (host !== undefined) return open(host)
  try {
    return open('::')
  } catch (error) {
    // Another program has the port. Without IPv6 the system says that it knows no such address.
    if ((error as { code?: string }).code === 'EADDRINUSE') throw error
    const handle = open('0.0.0.0')
    log.warn('no_ipv6', { reason: error instanceof Error ? error.message : String(error) })
    return handle
  }
}

function listenDirectly(options: OnOneHost, { serve }: Listening): Listener {
  const { host, port, reusePort, stopGraceMs = STOP_GRACE_MS } = options
  const address = { hostname: host, port, reusePort }
  const server = startServer(serve, address, (peer) => unmapAddress(peer.address))
  setListenerOptions(port, IDLE_SECONDS * 1000)
  return {
    async stop(force) {
      server.announceStop()
      // Bun ends every connection that waits for a request as soon as it is told to stop.
      if (!force) await Bun.sleep(stopGraceMs)
      await server.stop(force)
    },
  }
}

function listenWithFastPath(options: OnOneHost, app: Listening): Listener {
  const { host, port, trustProxy, reusePort, stopGraceMs } = options
  const { serve, fastPath } = app
  let listener: FastPath | undefined
  // Never the relay's own address: a disconnected client must not count as a trusted proxy on this machine.
  const server = startServer(serve, { hostname: LOCAL, port: 0 }, (peer) =>
    listener?.findPeerAddress(peer.port),
  )
  try {
    listener = openFastPath({
      hostname: host,
      port,
      reusePort,
      behind: { hostname: LOCAL, port: server.port },
      ...fastPath,
      idleSeconds: IDLE_SECONDS,
      stopGraceMs,
      trusted: trustProxy,
    })
  } catch (error) {
    void server.stop(true)
    throw error
  }
  const { counts } = listener
  app.setConnectionMetrics(() => readConnectionMetrics(counts()))
  return {
    async stop(force) {
      server.announceStop()
      const begun = listener?.stop(force)
      if (!force) await begun
      await server.stop(force)
    },
  }
}

interface StartedServer {
  port: number
  /** Each request that comes from now on is the last one of its connection, and its answer says so. */
  announceStop(): void
  stop(force: boolean): Promise<void>
}

function startServer(
  { routes, fetch: handle }: App['serve'],
  { reusePort = false, ...address }: { hostname: string; port: number; reusePort?: boolean },
  findClient: FindClient,
): StartedServer {
  let stopping = false
  const peers: ServerHandle = {
    requestIP(request) {
      const peer = server.requestIP(request)
      const client = peer && findClient(peer)
      return client ? { address: client } : null
    },
    timeout: (request, seconds) => server.timeout(request, seconds),
  }
  const answerLast = async (answer: Response | Promise<Response>) => {
    const response = await answer
    // RFC 9112, section 9.6.
    response.headers.set('Connection', 'close')
    return response
  }
  const answer = (handler: typeof handle, request: Bun.BunRequest) =>
    stopping ? answerLast(handler(request, peers)) : handler(request, peers)
  const server = Bun.serve({
    ...OPTIONS,
    ...address,
    // Always set: without it, Bun shares the port with other programs outside of development.
    reusePort,
    routes: Object.fromEntries(
      Object.entries(routes).map(([path, handler]) => [
        path,
        (request: Bun.BunRequest) => answer(handler, request),
      ]),
    ),
    fetch: (request) => answer(handle, request as Bun.BunRequest),
  })
  return {
    port: server.port as number,
    announceStop() {
      stopping = true
    },
    stop: (force) => server.stop(force),
  }
}
