// Headers of every answer: browsers must not guess a content type, such as a script in a stranger's text
// (https://fetch.spec.whatwg.org/#x-content-type-options-header), and use https only where the origin is https (RFC
// 6797). An answer to HEAD does not name a wrong length (RFC 9110 §8.6).

type Answer<Rest extends unknown[]> = (request: Bun.BunRequest, ...rest: Rest) => Response | Promise<Response>

const NO_SNIFF = ['X-Content-Type-Options', 'nosniff'] as const
const STRICT_TRANSPORT = ['Strict-Transport-Security', 'max-age=31536000'] as const

const isHttps = (origin: string) => origin.startsWith('https:')

/** The header about https as a line of an answer; undefined where the origin is plain http. */
export const toStrictTransportLine = (origin: string) =>
  isHttps(origin) ? `${STRICT_TRANSPORT.join(': ')}\r\n` : undefined

/** @returns a wrapper that adds the headers to a handler's answers. Synchronous answers stay synchronous. */
export function createHeaderWrapper(origin: string) {
  const lines = isHttps(origin) ? [NO_SNIFF, STRICT_TRANSPORT] : [NO_SNIFF]
  const add = ({ method }: Request, response: Response) => {
    for (const [name, value] of lines) response.headers.set(name, value)
    if (method === 'HEAD') hideLength(response)
    return response
  }
  return <Rest extends unknown[]>(answer: Answer<Rest>): Answer<Rest> =>
    (request, ...rest) => {
      const response = answer(request, ...rest)
      return response instanceof Promise
        ? response.then((given) => add(request, given))
        : add(request, response)
    }
}

/** Hono drops the body of an answer to HEAD, and Bun would then send `Content-Length: 0`. */
function hideLength({ status, body, headers }: Response): void {
  // These have no body for GET either.
  const isEmpty = status === 204 || (status >= 300 && status < 400)
  if (!body && !isEmpty && !headers.has('Content-Length')) headers.set('Transfer-Encoding', 'chunked')
}

/** For answers with personal data: no cache stores them, and browsers neither run nor frame them. */
export function setPrivateHeaders(headers: Headers, requestId: string): void {
  headers.set('X-Request-Id', requestId)
  headers.set('Cache-Control', 'no-store')
  headers.set('Referrer-Policy', 'no-referrer')
  headers.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
}
