// Finds free ports for the servers that tests start.

// Below the ports that operating systems assign to connections (from 32768 on Linux): nothing else takes one meanwhile.
const PORTS = { first: 10_240, count: 20_000 }

/** @returns a port that nobody listens on. A server needs it before it starts, because its address is a setting. */
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
