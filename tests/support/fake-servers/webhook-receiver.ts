// A receiver of webhooks: it keeps every request, and counts how many were open at once.

export interface ReceivedWebhook {
  id: string
  path: string
  headers: Record<string, string>
  body: string
  at: number
}

export interface WebhookReceiver {
  url: string
  requests: ReceivedWebhook[]
  /** The number of requests with each `webhook-id`. */
  countById(): Map<string, number>
  /** The most requests that were open at the same time. */
  getPeakConcurrency(): number
  /** Answers all requests from now on; the default is 200. */
  respondWith(respond: (received: ReceivedWebhook) => Response | Promise<Response>): void
  stop(): Promise<void>
}

/** Starts a receiver on 127.0.0.1; port 0 takes any free one. */
export function startWebhookReceiver(port = 0): WebhookReceiver {
  const requests: ReceivedWebhook[] = []
  let respond: Parameters<WebhookReceiver['respondWith']>[0] = () => new Response('ok')
  let [open, peak] = [0, 0]
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      peak = Math.max(peak, ++open)
      try {
        const headers = Object.fromEntries(request.headers)
        const { pathname } = new URL(request.url)
        const received = {
          path: pathname,
          id: headers['webhook-id'] ?? '',
          headers,
          body: await request.text(),
          at: Date.now(),
        }
        requests.push(received)
        return await respond(received)
      } finally {
        open--
      }
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    requests,
    countById() {
      const counts = new Map<string, number>()
      for (const { id } of requests) counts.set(id, (counts.get(id) ?? 0) + 1)
      return counts
    },
    getPeakConcurrency: () => peak,
    respondWith(next) {
      respond = next
    },
    stop: () => server.stop(true),
  }
}
