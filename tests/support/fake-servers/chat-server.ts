// An HTTP server that stands in for a chat service: it keeps the requests, and answers as the service documents.

// biome-ignore lint/suspicious/noExplicitAny: tests read messages of every shape
export type ChatMessage = any

export interface ChatRequest {
  path: string
  headers: Headers
  text: string
}

export interface ChatServer {
  origin: string
  /** All requests so far. */
  requests: ChatRequest[]
  /** The messages that the service accepted. */
  accepted: ChatMessage[]
  /** Replaces the documented answers to the next requests, one each. */
  answerWith(...answers: ((request: ChatRequest) => Response | Promise<Response>)[]): void
  close(): Promise<void>
}

/** Answers one message. It calls `accept` when the service takes the message. */
type ChatResponder = (request: ChatRequest, message: ChatMessage, accept: () => void) => Response

export function startChatServer(respond: ChatResponder): ChatServer {
  const requests: ChatRequest[] = []
  const accepted: ChatMessage[] = []
  const replacements: ((request: ChatRequest) => Response | Promise<Response>)[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const received = { path: pathname + search, headers: request.headers, text: await request.text() }
      requests.push(received)
      const replacement = replacements.shift()
      if (replacement) return replacement(received)
      if (request.method !== 'POST') return new Response('', { status: 405 })
      const message = JSON.parse(received.text)
      return respond(received, message, () => accepted.push(message))
    },
  })
  return {
    origin: `http://127.0.0.1:${server.port}`,
    requests,
    accepted,
    answerWith(...answers) {
      replacements.push(...answers)
    },
    close: () => server.stop(true),
  }
}
