// The fast path's answers as bytes on the wire.

export interface FastRedirect {
  status: number
  /** Printable ASCII without spaces. */
  location: string
  /** Further headers, each with its line end. */
  headers?: string
}

export interface FastResponse {
  status: number
  /** Header lines, each with its line end. */
  headers: string
  body: string
}

/** @returns header lines. @throws if a value contains a line end */
export function toHeaderLines(headers: Record<string, string>): string {
  let lines = ''
  for (const name in headers) {
    const value = headers[name] as string
    if (!PRINTABLE.test(value)) throw new Error(`The header ${name} has a character that no header may have.`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}
const PRINTABLE = /^[ -~]*$/

const REASONS: Record<number, string> = {
  200: 'OK',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

export function redirectText({ status, location, headers = '' }: FastRedirect, keepAlive: boolean): string {
  const end = keepAlive ? '' : 'Connection: close\r\n'
  return `HTTP/1.1 ${status} ${REASONS[status] ?? 'Redirect'}\r\nLocation: ${location}\r\nCache-Control: private, no-store\r\nX-Robots-Tag: noindex\r\n${headers}Date: ${httpDate()}\r\nContent-Length: 0\r\n${end}\r\n`
}

/** @returns a text if every character is one byte, else bytes */
export function replyText({ status, headers, body }: FastResponse, keepAlive: boolean): string | Buffer {
  const end = keepAlive ? '' : 'Connection: close\r\n'
  const head = `HTTP/1.1 ${status} ${REASONS[status] ?? 'Answer'}\r\n${headers}Date: ${httpDate()}\r\n`
  const bytes = Buffer.byteLength(body)
  const text = `${head}Content-Length: ${bytes}\r\n${end}\r\n${body}`
  return bytes === body.length ? text : Buffer.from(text)
}

const RETRY_SECONDS = 5

/**
 * The answer to a request that needs a relay while all relays are in use. Scripts of other sites can read it, because
 * the form endpoint promises them its errors.
 */
export const busyText = (more = '') =>
  replyText(
    {
      status: 503,
      headers: `${more}Retry-After: ${RETRY_SECONDS}\r\nAccess-Control-Allow-Origin: *\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Type: application/json\r\n`,
      body: `{"error":"The server is busy. Try again in ${RETRY_SECONDS} seconds."}`,
    },
    false,
  )

let date = ''
let dateSecond = 0

/** Updated once a second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    date = new Date(second * 1000).toUTCString()
  }
  return date
}
