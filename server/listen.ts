// The open socket: a front that answers plain redirects, and behind it, on this machine only, the server for all else.

import type { App } from './app.ts'
import { type FastPath, openFastPath } from './http/fast-path/listener.ts'
import type { ServerHandle } from './http/server-handle.ts'

const LOCAL = '127.0.0.1'

/** @throws when the address cannot be listened on */
export function listen({ host, port }: { host: string; port: number }, { serve, redirect, post }: App) {
  let front: FastPath | undefined
  const peers: ServerHandle = {
    requestIP(request) {
      const peer = server.requestIP(request)
      // Never the relay's own: who is gone is nobody, and must not pass for a proxy on this machine.
      const address = peer && front?.findPeerAddress(peer.port)
      return address ? { address } : null
    },
    timeout: (request, seconds) => server.timeout(request, seconds),
  }
  const { routes, fetch: handle, ...options } = serve
  const server = Bun.serve({
    ...options,
    hostname: LOCAL,
    port: 0,
    routes: Object.fromEntries(
      Object.entries(routes).map(([path, handler]) => [
        path,
        (request: Bun.BunRequest) => handler(request as never, peers),
      ]),
    ),
    fetch: (request) => handle(request, peers),
  })
  try {
    front = openFastPath({
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
