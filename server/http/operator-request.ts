// Sends a request for the operator and reports details of the connection. The host is the operator's own
// (TOWPATH_URL), possibly private, or the caller has checked the addresses. Nobody else can choose the target.

import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { TLSSocket } from 'node:tls'

export interface OperatorRequest {
  url: string
  headers?: Record<string, string>
  /** From the name's look-up to the last byte of the answer. */
  timeoutMs: number
  /** The addresses to use instead of a look-up: at least one. */
  addresses?: string[]
}

export interface PeerCertificate {
  /** The reason why the certificate is not trusted for this name; undefined if it is. */
  problem?: string
  /** Milliseconds since the epoch. */
  validUntil: number
}

export interface OperatorAnswer {
  status: number
  location: string | undefined
  body: string
  /** The address of this end of the connection. */
  localAddress: string
  /** Absent for http. */
  certificate?: PeerCertificate
}

const BYTES_MAX = 65_536

/** @returns the answer, whatever its status and certificate are, or the reason why there is none */
export function requestFromOperator({
  url,
  headers = {},
  timeoutMs,
  addresses,
}: OperatorRequest): Promise<OperatorAnswer | { reason: string }> {
  const { promise, resolve } = Promise.withResolvers<OperatorAnswer | { reason: string }>()
  // The caller judges the certificate, because an answer with a bad certificate is more useful than none.
  const options = {
    headers: { 'user-agent': 'Towpath', ...headers },
    agent: false as const,
    ...(addresses && { lookup: createLookup(addresses) }),
  }
  const request = url.startsWith('https:')
    ? https.request(url, { ...options, rejectUnauthorized: false })
    : http.request(url, options)
  const settle = (result: OperatorAnswer | { reason: string }) => {
    clearTimeout(timer)
    resolve(result)
    request.destroy()
  }
  const timer = setTimeout(
    () => settle({ reason: `no answer within ${timeoutMs / 1000} seconds` }),
    timeoutMs,
  )
  request.on('response', (message) => {
    const connection = describeConnection(message)
    const chunks: Uint8Array[] = []
    let size = 0
    const finish = () =>
      settle({
        status: message.statusCode ?? 0,
        location: message.headers.location,
        body: Buffer.concat(chunks).toString(),
        ...connection,
      })
    message.on('data', (chunk: Uint8Array) => {
      size += chunk.byteLength
      if (size > BYTES_MAX) finish()
      else chunks.push(chunk)
    })
    message.on('end', finish)
    message.on('error', finish)
  })
  request.on('error', (error: NodeJS.ErrnoException) =>
    settle({ reason: error.code ?? error.message.split('\n')[0] ?? 'no reason given' }),
  )
  request.on('close', () => settle({ reason: 'the connection was closed before an answer came' }))
  request.end()
  return promise
}

function createLookup(addresses: string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_, { all }, callback) => {
    const [{ address, family } = { address: '', family: 0 }] = found
    if (all) callback(null, found)
    else callback(null, address, family)
  }
}

function describeConnection({
  socket,
}: IncomingMessage): Pick<OperatorAnswer, 'localAddress' | 'certificate'> {
  const localAddress = socket.localAddress ?? ''
  if (!('getPeerCertificate' in socket)) return { localAddress }
  const tls = socket as TLSSocket
  const problem = tls.authorized ? undefined : String(tls.authorizationError ?? 'it cannot be trusted')
  return { localAddress, certificate: { problem, validUntil: Date.parse(tls.getPeerCertificate().valid_to) } }
}
