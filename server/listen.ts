// The open socket. With the fast path it answers plain redirects, and passes all else on to `Bun.serve`, which then
// listens on this machine only; without the fast path `Bun.serve` has the public address itself.

import type { App } from './app.ts'
import { type Front, openFront } from './http/front.ts'
import type { Peers } from './http/peers.ts'

const LOCAL = '127.0.0.1'

export interface ListenOptions {
  host: string
  port: number
  fastPath: boolean
}

/** Who is at the other end of a connection to `Bun.serve`, when it is not that address itself. */
type FindClient = (peer: { address: string; port: number }) => string | undefined

/** @throws when the address cannot be listened on */
export function listen(options: ListenOptions, app: App) {
  return options.fastPath ? listenWithFastPath(options, app) : listenWithoutFastPath(options, app)
}

function listenWithoutFastPath({ host, port }: ListenOptions, { serve }: App) {
  const server = startServer(serve, { hostname: host, port }, ({ address }) => address)
  return { stop: (force: boolean) => server.stop(force) }
}

function listenWithFastPath({ host, port }: ListenOptions, { serve, redirect, post }: App) {
  let front: Front | undefined
  // Never the relay's own address: who is gone is nobody, and must not pass for a proxy on this machine.
  const server = startServer(serve, { hostname: LOCAL, port: 0 }, (peer) => front?.peerOf(peer.port))
  try {
    front = openFront({
      hostname: host,
      port,
      behind: { hostname: LOCAL, port: server.port as number },
      redirect,
      post,
      idleSeconds: serve.idleTimeout,
    })
  } catch (error) {
    void server.stop(true)
    throw error
  }
  return {
    /** Takes no connections any more, and ends when what runs has been answered; at once with `force`. */
    async stop(force: boolean) {
      front?.stop()
      await server.stop(force)
    },
  }
}

function startServer(
  { routes, fetch: handle, ...options }: App['serve'],
  address: { hostname: string; port: number },
  findClient: FindClient,
) {
  const peers: Peers = {
    requestIP(request) {
      const peer = server.requestIP(request)
      const client = peer && findClient(peer)
      return client ? { address: client } : null
    },
    timeout: (request, seconds) => server.timeout(request, seconds),
  }
  const server = Bun.serve({
    ...options,
    ...address,
    routes: Object.fromEntries(
      Object.entries(routes).map(([path, handler]) => [
        path,
        (request: Bun.BunRequest) => handler(request as never, peers),
      ]),
    ),
    fetch: (request) => handle(request, peers),
  })
  return server
}
