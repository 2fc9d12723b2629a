// Ports for servers under test.

// Below what systems hand out by themselves: no connection and no other server gets one of them in between.
const PORTS = { first: 10_240, count: 20_000 }

/** A port nobody listens on. It is named before the server starts, since the server's own address is its setting. */
export function findFreePort(): number {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count)
    try {
      const probe = Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response() })
      void probe.stop(true)
      return port
    } catch (error) {
      if ((error as { code?: string }).code !== 'EADDRINUSE') throw error
    }
  }
}
