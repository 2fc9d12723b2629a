// The one way out for requests to addresses that somebody else chose (webhooks, chat services, a form's own page).
// node:http(s) and not fetch: Bun's fetch ignores `lookup` in silence, and asks a proxy that the environment names.

import { lookup as systemLookup } from 'node:dns/promises'
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import net, { type LookupFunction } from 'node:net'
import { type Network, parseIpAddress, parseNetwork } from '../lib/ip-network.ts'
import { isAllowedAddress } from './address-policy.ts'

export interface SafeRequest {
  url: string
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** For all of it: name, connection, and the last byte of the answer. */
  timeoutMs?: number
  /** More of the answer's body is not read. */
  maxBytes?: number
  /** Networks that may be reached although they are not public. */
  allow: Network[]
  /** Every address of a name; the system's own resolver unless said otherwise. */
  resolve?: ResolveHost
}

export type ResolveHost = (hostname: string) => Promise<{ address: string; family: number }[]>

export type SafeFailure =
  /** Not an http(s) URL, or one with a user name or password. */
  | 'bad-url'
  /** An address that is not public and not allowed. Nothing was sent. */
  | 'refused-address'
  /** The name has no address, or nobody could say so. */
  | 'dns'
  /** No connection, or it ended before the answer began. */
  | 'connect'
  /** The certificate is not trusted, or the other end does not speak TLS. */
  | 'tls'
  | 'timeout'
  /** What came is not HTTP. */
  | 'broken-answer'

export interface SafeResponse {
  ok: true
  status: number
  headers: Headers
  /** As it was sent: a body that is compressed unasked stays compressed. */
  body: Uint8Array
  /** Why the body is not whole: larger than `maxBytes`, too slow for the deadline, or broken off. */
  cut?: 'size' | 'time' | 'broken'
}

export interface SafeRefusal {
  ok: false
  reason: SafeFailure
  /** A sentence for whoever chose the URL. */
  message: string
}

/**
 * One request and its answer, of whatever status. Redirects are answers like others. Each failure is a value; what is
 * thrown is a mistake of ours (a header that cannot be sent).
 */
export async function safeRequest(asked: SafeRequest): Promise<SafeResponse | SafeRefusal> {
  const url = URL.parse(asked.url)
  if (!url || !/^https?:$/.test(url.protocol))
    return refusal('bad-url', 'The address is not an http or https URL')
  if (url.username !== '' || url.password !== '') {
    return refusal('bad-url', 'The address contains a user name or password')
  }
  // `lookup` is asked for names only. Every spelling of an IPv4 address is a plain one in a parsed URL.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (parseIpAddress(host) && !isAllowedAddress(host, asked.allow)) return refusedAddress()
  return exchange(url, asked)
}

const refusal = (reason: SafeFailure, message: string): SafeRefusal => ({ ok: false, reason, message })

const refusedAddress = () =>
  refusal('refused-address', 'The address leads into a private network, which is not allowed')

const TIMEOUT_MS = 15_000
const BYTES_MAX = 65_536
// Enough for any honest server; the parser gives up beyond it.
const HEADER_BYTES_MAX = 32_768

type Settle = (result: SafeResponse | SafeRefusal) => void

function exchange(url: URL, asked: SafeRequest): Promise<SafeResponse | SafeRefusal> {
  const { timeoutMs = TIMEOUT_MS } = asked
  const { promise, resolve } = Promise.withResolvers<SafeResponse | SafeRefusal>()
  const { lookup, refused } = createValidatingLookup(asked)
  const request = openRequest(url, asked, lookup)
  let answer: ReturnType<typeof receive> | undefined
  const settle: Settle = (result) => {
    clearTimeout(timer)
    resolve(result)
    request.destroy()
  }
  const timer = setTimeout(() => {
    const seconds = Math.round(timeoutMs / 100) / 10
    settle(answer?.soFar('time') ?? refusal('timeout', `There was no answer within ${seconds} seconds`))
  }, timeoutMs)
  request.on('response', (message) => {
    answer = receive(message, asked.maxBytes ?? BYTES_MAX, settle)
  })
  request.on('error', (error) => settle(answer?.soFar('broken') ?? refused() ?? toRefusal(error)))
  // Also when the other end wants to switch to another protocol, where no error is told.
  request.on('close', () => {
    if (!answer) settle(refused() ?? refusal('connect', 'The connection was closed before an answer came'))
  })
  request.end(asked.body)
  return promise
}

function openRequest(
  url: URL,
  { method = 'GET', headers, body }: SafeRequest,
  lookup: LookupFunction,
): ClientRequest {
  const sent = new Headers(headers)
  if (!sent.has('user-agent')) sent.set('user-agent', 'Towpath')
  // A small compressed body can be a large one: none is asked for, and none is unpacked.
  sent.set('accept-encoding', 'identity')
  sent.set('connection', 'close')
  sent.delete('host')
  if (body !== undefined) sent.set('content-length', String(Buffer.byteLength(body)))
  const options = {
    method,
    headers: Object.fromEntries(sent),
    lookup,
    maxHeaderSize: HEADER_BYTES_MAX,
    // A connection that is kept would be used again without asking where it leads.
    agent: false as const,
  }
  // Said here, because the environment can turn it off for the whole process.
  return url.protocol === 'https:'
    ? https.request(url, { ...options, rejectUnauthorized: true })
    : http.request(url, options)
}

/**
 * A `lookup` that resolves the name once and hands on exactly what it has looked at, so that a second answer of the
 * name's server leads nowhere. One address that may not be reached refuses all: an honest name has no such mixture.
 */
function createValidatingLookup({ allow, resolve = systemResolve }: SafeRequest) {
  let failure: SafeRefusal | undefined
  const lookup: LookupFunction = (hostname, options, callback) => {
    const refuse = (found: SafeRefusal, cause?: unknown) => {
      failure = found
      callback(new Error(found.message, { cause }), '', 0)
    }
    resolve(hostname).then(
      (found) => {
        const [first] = found
        if (!first) return refuse(unknownHost(hostname))
        if (!found.every(({ address }) => isAllowedAddress(address, allow))) return refuse(refusedAddress())
        if (options.all) callback(null, found)
        else callback(null, first.address, first.family)
      },
      (error) => refuse(unknownHost(hostname), error),
    )
  }
  return { lookup, refused: () => failure }
}

const systemResolve: ResolveHost = (hostname) => systemLookup(hostname, { all: true })

const unknownHost = (hostname: string) =>
  refusal('dns', `The name ${hostname} has no address that could be found`)

function receive(message: IncomingMessage, maxBytes: number, settle: Settle) {
  const chunks: Uint8Array[] = []
  let size = 0
  const soFar = (cut?: SafeResponse['cut']): SafeResponse => {
    const headers = parseHeaders(message.rawHeaders)
    const body = Buffer.concat(chunks).subarray(0, maxBytes)
    return { ok: true, status: message.statusCode ?? 0, headers, body, cut }
  }
  message.on('data', (chunk: Uint8Array) => {
    chunks.push(chunk)
    size += chunk.byteLength
    if (size > maxBytes) settle(soFar('size'))
  })
  message.on('end', () => settle(soFar()))
  message.on('error', () => settle(soFar('broken')))
  return { soFar }
}

function parseHeaders(raw: string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i + 1 < raw.length; i += 2) headers.append(raw[i] as string, raw[i + 1] as string)
  return headers
}

const TLS =
  /^(ERR_(TLS|SSL)|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|CRL_|INVALID_(CA|PURPOSE))/

function toRefusal(error: Error & { code?: string }): SafeRefusal {
  const code = error.code ?? ''
  if (TLS.test(code)) return refusal('tls', `The secure connection failed (${code})`)
  if (code.startsWith('HPE_')) return refusal('broken-answer', `The answer is not HTTP (${code})`)
  return refusal('connect', `The connection failed${code === '' ? '' : ` (${code})`}`)
}

/**
 * Shows at the start of the process that the guard holds on this runtime: requests to a listener of our own on
 * 127.0.0.1 must be refused, by number and by name, and it must not see one. A version of the runtime that ignores
 * `lookup` would otherwise open the operator's network without a sound.
 * @throws when it does not hold
 */
export async function verifySafeRequest(request: typeof safeRequest = safeRequest): Promise<void> {
  let seen = 0
  const canary = net.createServer((socket) => {
    seen++
    socket.on('error', () => {})
    // Read, or the end of the other side would never be noticed and the canary never be closed.
    socket.resume()
    socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n')
  })
  await new Promise<void>((resolve, reject) => {
    canary.once('error', reject)
    canary.listen(0, '127.0.0.1', resolve)
  })
  const { port } = canary.address() as net.AddressInfo
  const resolve: ResolveHost = async () => [{ address: '127.0.0.1', family: 4 }]
  try {
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', 'canary.invalid']) {
      for (const scheme of ['http', 'https']) {
        const url = `${scheme}://${host}:${port}/`
        const result = await request({ url, allow: [], resolve, timeoutMs: 5000 })
        if (result.ok || result.reason !== 'refused-address' || seen > 0) {
          throw new Error(`requests to private addresses are not refused by this runtime (${url})`)
        }
      }
    }
    // The name has no other address than the one it is told here: an answer shows that `lookup` is what decides.
    const allow = [parseNetwork('127.0.0.1') as Network]
    const answer = await request({ url: `http://canary.invalid:${port}/`, allow, resolve, timeoutMs: 5000 })
    if (!answer.ok || seen !== 1)
      throw new Error('the address check of outgoing requests is not used by this runtime')
  } finally {
    await new Promise((resolve) => canary.close(resolve))
  }
}
