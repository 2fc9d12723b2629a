// The open socket: a front that answers plain redirects, and behind it, on this machine only, the server for all else.

import type { App } from './app.ts'
import { toErrorResponse } from './http/error-response.ts'
import { type FastPath, openFastPath } from './http/fast-path/listener.ts'
import { requestId } from './http/request-id.ts'
import type { ServerHandle } from './http/server-handle.ts'

const LOCAL = '127.0.0.1'

// Honest slow uploads pass, and a client that drips its request is still cut off (Bun counts in seconds).
const IDLE_SECONDS = 30

const OPTIONS = {
  error: (error: Error) => toErrorResponse(error, requestId(null)),
  // Bun's own error page shows source code.
  development: false,
  idleTimeout: IDLE_SECONDS,
  // Larger bodies than ours are refused by the routes, each in its own words.
  maxRequestBodySize: 64 * 1024 * 1024,
}

type Listening = Pick<App, 'serve' | 'fastPath'>

/** @throws when the address cannot be listened on */
export function listen({ host, port }: { host: string; port: number }, { serve, fastPath }: Listening) {
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
  const server = Bun.serve({
    ...OPTIONS,
    hostname: LOCAL,
    port: 0,
    routes: Object.fromEntries(
      Object.entries(serve.routes).map(([path, handler]) => [
        path,
        (request: Bun.BunRequest) => handler(request, peers),
      ]),
    ),
    fetch: (request) => serve.fetch(request as Bun.BunRequest, peers),
  })
  try {
    front = openFastPath({
      hostname: host,
      port,
      behind: { hostname: LOCAL, port: server.port as number },
      ...fastPath,
      idleSeconds: IDLE_SECONDS,
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
