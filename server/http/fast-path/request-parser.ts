// Parses complete, plain requests. It leaves anything unusual to the general HTTP server (`listener.ts`), and accepts
// only the unambiguous part of RFC 9112.

import {
  type Bytes,
  createByteTable,
  createHeaderFields,
  findField,
  HEAD_BYTES_MAX,
  type HeaderFields,
  isNamed,
  LETTERS_AND_DIGITS,
  readHeaderFields,
  startsWith,
} from './header-fields.ts'

/** Valid until the next head is read. */
export interface RequestHead {
  /** The path without its first slash: segments of letters, digits, `-`, `_` and `.`, none of them empty, `.` or `..`. */
  path: string
  /** Without `?`. */
  query: string
  /** False if the client asked to close the connection, or uses HTTP/1.0. */
  keepAlive: boolean
  headers: { get(name: string): string | null }
}

/** A POST with its body. */
export interface PostRequest extends RequestHead {
  /** Decoded on demand, because many POST requests are relayed unread. */
  body: () => string
  /** A copy that stays valid while other heads are read, for a later answer. */
  keep: () => { headers: RequestHead['headers']; body: Buffer }
}

const [CR, LF, QUESTION, SLASH, ZERO, ONE, DOT] = [13, 10, 63, 47, 48, 49, 46]

const SEGMENT = createByteTable(`${LETTERS_AND_DIGITS}-_.`)
/** Characters of a query that URL parsing leaves as they are. */
const QUERY = createByteTable(`${LETTERS_AND_DIGITS}-._~!$&()*+,;=:@/?%`)

const GET = Buffer.from('GET /')
const POST = Buffer.from('POST /')
const HTTP_1 = Buffer.from(' HTTP/1.')

/** Header fields that announce a body, or ask for more than one answer, by the lengths of their names. */
const REFUSED_HEADERS = Map.groupBy(
  ['transfer-encoding', 'expect', 'upgrade', 'te', 'trailer', 'http2-settings'],
  ({ length }) => length,
)

/** Whether the fields are those of a plain, unambiguous request. */
export function isPlain(fields: HeaderFields, minorVersion: number | undefined): boolean {
  if (hasRefused(fields)) return false
  const host = findField(fields, 'host')
  if (host === null ? minorVersion === ONE : host === '' || host.includes(',')) return false
  const connection = findField(fields, 'connection')?.toLowerCase()
  return connection === undefined || connection === 'keep-alive' || connection === 'close'
}

function hasRefused({ source, places, count }: HeaderFields): boolean {
  for (let at = 0; at < count * 4; at += 4) {
    const [start, end] = [places[at] as number, places[at + 1] as number]
    const names = REFUSED_HEADERS.get(end - start)
    if (names) for (const name of names) if (isNamed(source, start, end, name)) return true
  }
  return false
}

/**
 * @returns a reader that stores all requests' header fields in the same object, to save allocations. It answers null
 * for everything but one whole, plain GET of plain path segments that ends where the bytes end.
 */
export function createGetParser(): (bytes: Bytes) => RequestHead | null {
  const fields = createHeaderFields()
  const headers = { get: (name: string) => findField(fields, name) }
  return (bytes) => {
    const found = readHead(bytes, GET, fields, headers)
    return found && found.end === bytes.length && findField(fields, 'content-length') === null
      ? found.head
      : null
  }
}

/** The same for a POST with a complete body of the declared length. */
export function createPostParser(): (bytes: Bytes) => PostRequest | null {
  const fields = createHeaderFields()
  const headers = { get: (name: string) => findField(fields, name) }
  return (bytes) => {
    const found = readHead(bytes, POST, fields, headers)
    const length = found && findField(fields, 'content-length')
    if (!found || !length || !/^\d{1,5}$/.test(length) || found.end + Number(length) !== bytes.length)
      return null
    const { end } = found
    return { ...found.head, body: () => decodeBody(bytes, end), keep: () => keep(fields, bytes, end) }
  }
}

function keep({ places, count }: HeaderFields, bytes: Bytes, end: number) {
  const copy = Buffer.from(bytes) as Bytes
  const kept = { source: copy, places: places.slice(0, count * 4), count }
  return { headers: { get: (name: string) => findField(kept, name) }, body: copy.subarray(end) }
}

/** As `Request.text` does. */
function decodeBody(bytes: Bytes, from: number): string {
  const text = bytes.toString('utf8', from)
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Everything but the body: `end` is where that begins. */
function readHead(
  bytes: Bytes,
  method: Buffer,
  fields: HeaderFields,
  headers: RequestHead['headers'],
): { head: RequestHead; end: number } | null {
  if (bytes.length > HEAD_BYTES_MAX || !startsWith(bytes, method, 0)) return null
  const pathEnd = findPathEnd(bytes, method.length)
  if (pathEnd === -1) return null
  let at = pathEnd
  if (bytes[at] === QUESTION) while (QUERY[bytes[++at] as number]);
  const queryEnd = at
  const minor = bytes[at + HTTP_1.length]
  if (!startsWith(bytes, HTTP_1, at) || (minor !== ONE && minor !== ZERO)) return null
  at += HTTP_1.length + 1
  const end = bytes[at] === CR && bytes[at + 1] === LF ? readHeaderFields(fields, bytes, at + 2) : -1
  if (end === -1) return null
  if (!isPlain(fields, minor)) return null
  const head = {
    path: bytes.latin1Slice(method.length, pathEnd),
    query: queryEnd > pathEnd ? bytes.latin1Slice(pathEnd + 1, queryEnd) : '',
    keepAlive: minor === ONE && findField(fields, 'connection')?.toLowerCase() !== 'close',
    headers,
  }
  return { head, end }
}

/** @returns the end of the path's segments, or -1 if one of them is empty, `.` or `..` */
function findPathEnd(bytes: Bytes, from: number): number {
  for (let at = from, start = from; ; start = ++at) {
    while (SEGMENT[bytes[at] as number]) at++
    const length = at - start
    if (length === 0 || (length < 3 && bytes[start] === DOT && bytes[at - 1] === DOT)) return -1
    if (bytes[at] !== SLASH) return at
  }
}
