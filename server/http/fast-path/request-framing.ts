// Finds the end of a relayed request, if every server reads the same end: no Transfer-Encoding, no Upgrade, no Expect,
// one Content-Length at most, HTTP/1.1 kept alive.

import { type Bytes, createHeaderFields, findField, readHeaderFields } from './header-fields.ts'
import {
  collectHead,
  createMessageFraming,
  type MessageFraming,
  parseContentLength,
  passBody,
} from './message-framing.ts'
import { isPlain } from './request-parser.ts'

export interface RequestFraming extends MessageFraming {
  method: string
  /** The body is chunked, so its end is uncertain. */
  chunked: boolean
}

export const createRequestFraming = (): RequestFraming => ({
  ...createMessageFraming(),
  method: '',
  chunked: false,
})

/** A body in chunks ends with an empty line (RFC 9112 §7.1). */
export const CHUNKS_END = '\r\n\r\n'

/** Reads the next bytes towards the server. Bytes after the end make the request uncertain. */
export function readRequest(framing: RequestFraming, chunk: Buffer): void {
  if (framing.state === 'complete') framing.state = 'uncertain'
  else if (framing.state === 'body') passBody(framing, chunk.length)
  else if (framing.state === 'head') {
    const bytes = collectHead(framing, chunk)
    if (bytes) readHead(framing, bytes)
  }
}

/** In origin form (RFC 9112 §3.2.1); the only methods that this product's routes know. */
const REQUEST_LINE = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \/[!-~]* HTTP\/1\.1\r\n/
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const MINOR_VERSION = '1'.charCodeAt(0)

// Shared, because one message is read at a time and no field is kept.
const fields = createHeaderFields()

function readHead(framing: RequestFraming, bytes: Bytes): void {
  const lineEnd = bytes.indexOf('\r\n') + 2
  framing.method = REQUEST_LINE.exec(bytes.latin1Slice(0, lineEnd))?.[1] ?? ''
  const end = framing.method === '' ? -1 : readHeaderFields(fields, bytes, lineEnd)
  framing.bodyLeft = end === -1 ? -1 : bodyLength(framing.method)
  framing.chunked = end !== -1 && findField(fields, 'transfer-encoding')?.toLowerCase() === 'chunked'
  if (framing.bodyLeft === -1) framing.state = 'uncertain'
  else passBody(framing, bytes.length - end)
}

/** @returns -1 if the length is uncertain, or the connection closes */
function bodyLength(method: string): number {
  if (!isPlain(fields, MINOR_VERSION)) return -1
  if (findField(fields, 'connection')?.toLowerCase() === 'close') return -1
  const length = findField(fields, 'content-length')
  if (length === null) return 0
  return METHODS_WITH_BODY.has(method) ? parseContentLength(length) : -1
}
