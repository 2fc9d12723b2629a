// Sends requests to addresses that users chose: webhooks, chat services, a form's page. It uses node:http(s), because
// Bun's `fetch` silently ignores `lookup`, and uses the proxy of the environment.

import { lookup as systemLookup } from 'node:dns/promises'
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import net, { type LookupFunction } from 'node:net'
import { withTimeout } from '../lib/concurrency/with-timeout.ts'
import { type Network, parseNetwork } from '../lib/ip-network.ts'
import { parseUrl } from '../lib/web-url.ts'
import { hasRefusedHost, isAllowedAddress, PRIVATE_ADDRESS } from './address-policy.ts'
import { takeConnections } from './connection-pool.ts'

export interface SafeRequest {
  url: string
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** The timeout for everything, from the DNS look-up to the last byte of the answer. */
  timeoutMs?: number
  /** The rest of the answer's body is not read. */
  maxBytes?: number
  /** Networks that the request may reach although they are not public. */
  allow: Network[]
  /** Resolves a name to all its addresses. The default is the system's resolver. */
  resolve?: ResolveHost
  /**
   * Reuses a connection of an earlier request if the name still has the same addresses. A receiver may then get
   * the request twice: when it ends the connection without an answer, the request is sent over a new one.
   */
  reusesConnections?: boolean
}

interface HostAddress {
  address: string
  family: number
}

export type ResolveHost = (hostname: string) => Promise<HostAddress[]>

export type SafeFailure =
  /** The URL is not http(s), or has a user name or password. */
  | 'bad-url'
  /** The address is not public and not allowed. Nothing was sent. */
  | 'refused-address'
  /** The name has no address, or the look-up failed. */
  | 'dns'
  /** There was no connection, or it ended before the answer began. */
  | 'connect'
  /** The certificate is not trusted, or the other end does not speak TLS. */
  | 'tls'
  | 'timeout'
  /** The answer is not HTTP. */
  | 'broken-answer'

export interface SafeResponse {
  ok: true
  status: number
  headers: Headers
  /** As the server sent it: a server that compresses without being asked sends a compressed body. */
  body: Uint8Array
  /** The reason for an incomplete body: larger than `maxBytes`, slower than the timeout, or interrupted. */
  cut?: 'size' | 'time' | 'broken'
}

export interface SafeRefusal {
  ok: false
  reason: SafeFailure
  /** A sentence for the person who chose the URL. */
  message: string
}

/**
 * Sends one request and returns its answer with any status, including redirects. Failures are values. It throws only
 * for an error of the caller, such as an invalid header.
 */
export async function safeRequest(options: SafeRequest): Promise<SafeResponse | SafeRefusal> {
  const url = parseUrl(options.url)
  if (!url || !/^https?:$/.test(url.protocol))
    return refusal('bad-url', 'The address is not an http or https URL')
  if (url.username !== '' || url.password !== '') {
    return refusal('bad-url', 'The address contains a user name or password')
  }
  // Node calls `lookup` for names only. A parsed URL has every spelling of an IPv4 address in its plain form.
  if (hasRefusedHost(url, options.allow)) return refusedAddress()
  return options.reusesConnections ? exchangeReusing(url, options) : exchange(url, options)
}

const refusal = (reason: SafeFailure, message: string): SafeRefusal => ({ ok: false, reason, message })

const refusedAddress = () => refusal('refused-address', PRIVATE_ADDRESS)

const TIMEOUT_MS = 15_000
const BYTES_MAX = 65_536
/** More than any honest server sends. The parser fails above it. */
const HEADER_BYTES_MAX = 32_768

/** @param isWhole the connection can be reused */
type Settle = (result: SafeResponse | SafeRefusal, isWhole?: boolean) => void

const endedEarly = () => refusal('connect', 'The connection was closed before an answer came')

/** For a reused connection. */
const ENDED_EARLY = endedEarly()

/** Every request resolves and checks the addresses again, and uses only connections to these addresses. */
async function exchangeReusing(url: URL, options: SafeRequest): Promise<SafeResponse | SafeRefusal> {
  const { timeoutMs = TIMEOUT_MS } = options
  const startedAt = performance.now()
  const found = await withTimeout(findAddresses(url.hostname, options), timeoutMs, () => timedOut(timeoutMs))
  if (!Array.isArray(found)) return found
  const connections = takeConnections(
    url,
    found.map(({ address }) => address),
  )
  const left = () => Math.max(1, timeoutMs - (performance.now() - startedAt))
  const checked = { ...options, resolve: async () => found }
  const result = await exchange(url, { ...checked, timeoutMs: left() }, connections.agent).finally(
    connections.release,
  )
  return result === ENDED_EARLY ? exchange(url, { ...checked, timeoutMs: left() }) : result
}

function exchange(url: URL, options: SafeRequest, agent?: http.Agent): Promise<SafeResponse | SafeRefusal> {
  const { timeoutMs = TIMEOUT_MS } = options
  const { promise, resolve } = Promise.withResolvers<SafeResponse | SafeRefusal>()
  const { lookup, getRefusal } = createValidatingLookup(options)
  const request = openRequest(url, options, { lookup, agent })
  let answer: ReturnType<typeof receive> | undefined
  const settle: Settle = (result, isWhole = false) => {
    clearTimeout(timer)
    resolve(result)
    if (!agent || !isWhole) request.destroy()
  }
  const timer = setTimeout(() => settle(answer?.soFar('time') ?? timedOut(timeoutMs)), timeoutMs)
  request.on('response', (message) => {
    answer = receive(message, options.maxBytes ?? BYTES_MAX, settle)
  })
  request.on('error', (error) => {
    if (request.reusedSocket && !answer) settle(ENDED_EARLY)
    settle(answer?.soFar('broken') ?? getRefusal() ?? toRefusal(error))
  })
  // When the other end switches to another protocol, there is no 'error', only a 'close'.
  request.on('close', () => {
    if (!answer) settle(getRefusal() ?? (request.reusedSocket ? ENDED_EARLY : endedEarly()))
  })
  request.end(options.body)
  return promise
}

const timedOut = (timeoutMs: number) =>
  refusal('timeout', `There was no answer within ${Math.round(timeoutMs / 100) / 10} seconds`)

/** The headers as they are sent. Node adds `host`. */
export function completeHeaders({
  headers,
  body,
  reusesConnections = false,
}: Pick<SafeRequest, 'headers' | 'body' | 'reusesConnections'>): Headers {
  const complete = new Headers(headers)
  if (!complete.has('user-agent')) complete.set('user-agent', 'Towpath')
  // A small compressed body can unpack to a large one, so no body is requested compressed, and none is unpacked.
  complete.set('accept-encoding', 'identity')
  complete.set('connection', reusesConnections ? 'keep-alive' : 'close')
  complete.delete('host')
  if (body !== undefined) complete.set('content-length', String(Buffer.byteLength(body)))
  return complete
}

function openRequest(
  url: URL,
  { method = 'GET', headers, body }: SafeRequest,
  { lookup, agent }: { lookup: LookupFunction; agent: http.Agent | undefined },
): ClientRequest {
  const options = {
    method,
    headers: Object.fromEntries(completeHeaders({ headers, body, reusesConnections: agent !== undefined })),
    lookup,
    maxHeaderSize: HEADER_BYTES_MAX,
    // The agent of the process would use a connection again without a check of its address.
    agent: agent ?? (false as const),
  }
  // `rejectUnauthorized` is explicit, because the environment can turn it off for the whole process.
  return url.protocol === 'https:'
    ? https.request(url, { ...options, rejectUnauthorized: true })
    : http.request(url, options)
}

/**
 * A `lookup` that resolves the name once, and passes on exactly the addresses that it has checked: a name server that
 * gives another answer later has no effect (DNS rebinding). One address that is not allowed refuses the name, because an
 * honest name does not mix public and private addresses.
 */
function createValidatingLookup(needs: SafeRequest) {
  let refused: SafeRefusal | undefined
  const lookup: LookupFunction = (hostname, options, callback) => {
    findAddresses(hostname, needs).then((found) => {
      if (!Array.isArray(found)) {
        refused = found
        return callback(new Error(found.message), '', 0)
      }
      const [first] = found as [HostAddress, ...HostAddress[]]
      if (options.all) callback(null, found)
      else callback(null, first.address, first.family)
    })
  }
  return { lookup, getRefusal: () => refused }
}

/** @returns at least one address, and only allowed ones */
async function findAddresses(
  hostname: string,
  { allow, resolve = systemResolve }: Pick<SafeRequest, 'allow' | 'resolve'>,
): Promise<HostAddress[] | SafeRefusal> {
  const literal = hostname.replace(/^\[|\]$/g, '')
  // `hasRefusedHost` has judged an address in the URL.
  if (net.isIP(literal) > 0) return [{ address: literal, family: net.isIP(literal) }]
  const addresses = await resolve(hostname).catch(() => [])
  if (addresses.length === 0) return unknownHost(hostname)
  return addresses.every(({ address }) => isAllowedAddress(address, allow)) ? addresses : refusedAddress()
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
  message.on('end', () => settle(soFar(), true))
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
 * Checks at the start of the process that the address check works on this runtime. Requests to a canary, a listener on
 * 127.0.0.1, must be refused by address and by name, and the canary must not get one. A runtime that ignores `lookup`
 * would otherwise open the operator's network silently.
 * @throws when the address check does not work
 */
export async function verifySafeRequest(request: typeof safeRequest = safeRequest): Promise<void> {
  let connections = 0
  const canary = net.createServer((socket) => {
    connections++
    socket.on('error', () => {})
    // Without reading, the canary would not notice that the other end closes, and could not close itself.
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
    const urls = ['127.0.0.1', '[::ffff:127.0.0.1]', 'canary.invalid'].flatMap((host) =>
      ['http', 'https'].map((scheme) => `${scheme}://${host}:${port}/`),
    )
    for (const url of urls) {
      for (const reusesConnections of [false, true]) {
        const result = await request({ url, allow: [], resolve, reusesConnections, timeoutMs: 5000 })
        if (result.ok || result.reason !== 'refused-address' || connections > 0) {
          throw new Error(`requests to private addresses are not refused by this runtime (${url})`)
        }
      }
    }
    // The name has no address but the one of `resolve`, so an answer shows that the runtime uses `lookup`.
    const allow = [parseNetwork('127.0.0.1') as Network]
    const answer = await request({ url: `http://canary.invalid:${port}/`, allow, resolve, timeoutMs: 5000 })
    if (!answer.ok || connections !== 1)
      throw new Error('the address check of outgoing requests is not used by this runtime')
  } finally {
    await new Promise((resolve) => canary.close(resolve))
  }
}
