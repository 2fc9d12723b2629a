// Rewrites requests whose target names a host (`GET http://go.example/x`): that host replaces `Host` (RFC 9112
// §3.2.2). The general HTTP server drops it before a handler runs, so the head is rewritten first.

import { isHost } from '../request-host.ts'
import {
  type Bytes,
  createHeaderFields,
  findField,
  HEAD_BYTES_MAX,
  readHeaderFields,
} from './header-fields.ts'

/** As lenient as the general HTTP server, which refuses the rest. */
const BEGINNING = /^[a-z-]{1,32}(?: (.*))?$/is
const SCHEMES = ['http://', 'https://']
/** More than a method and a scheme. */
const BEGINNING_BYTES = 48

const LINE = /^([a-z-]+) https?:\/\/([^/?]*)((?:[/?][!-~\x80-\xff]*)?) HTTP\/1\.([01])$/i
const END_OF_HEAD = '\r\n\r\n'

/** Gets 400, like every invalid host, and ends the connection. */
export const REFUSED_TARGET = Buffer.from('GET / HTTP/1.1\r\nHost: @\r\nConnection: close\r\n\r\n')

// Shared, because one head is read at a time and no field is kept.
const fields = createHeaderFields()

/**
 * @param bytes the first ones of a request
 * @returns the bytes to send instead: the same bytes if the target has no host, and `REFUSED_TARGET` if the head is
 * ambiguous; null while more bytes are needed
 */
export function applyTargetHost(bytes: Bytes): Buffer | null {
  const beginning = bytes.latin1Slice(0, Math.min(bytes.length, BEGINNING_BYTES))
  const [isRequest, target = ''] = BEGINNING.exec(beginning) ?? []
  if (isRequest === undefined) return bytes
  const scheme = target.slice(0, 'https://'.length).toLowerCase()
  if (!SCHEMES.some((each) => scheme.startsWith(each)))
    return SCHEMES.some((each) => each.startsWith(scheme)) ? null : bytes
  const isWhole = bytes.includes(END_OF_HEAD)
  if (!isWhole && bytes.length <= HEAD_BYTES_MAX) return null
  return (isWhole && rewriteHead(bytes)) || REFUSED_TARGET
}

function rewriteHead(bytes: Bytes): Buffer | null {
  const lineEnd = bytes.indexOf('\r\n')
  const [, method, host = '', path = '', minor] = LINE.exec(bytes.latin1Slice(0, lineEnd)) ?? []
  const end = isHost(host) ? readHeaderFields(fields, bytes, lineEnd + 2) : -1
  if (end === -1) return null
  const sent = findField(fields, 'host')
  if (sent === null ? minor === '1' : sent.includes(',')) return null
  const slash = path.startsWith('/') ? '' : '/'
  const head = `${method} ${slash}${path} HTTP/1.${minor}\r\nHost: ${host}\r\n${listOthers()}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes.subarray(end)])
}

/** All fields but `Host`, as lines. */
function listOthers(): string {
  const { source, places, count } = fields
  const lines = Array.from({ length: count }, (_, n) => {
    const [from, nameEnd, valueFrom, to] = places.subarray(n * 4)
    const name = source.latin1Slice(from, nameEnd)
    return name.toLowerCase() === 'host' ? '' : `${name}: ${source.latin1Slice(valueFrom, to)}\r\n`
  })
  return lines.join('')
}
