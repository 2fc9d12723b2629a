// Reads a request that is all there and as plain as requests come; whatever is unusual is left to the
// server behind (`listener.ts`). RFC 9112, of which this takes the strict half: nothing that two readers could take for
// two different things.

/** Valid until the next head is read. */
export interface RequestHead {
  /** The path without its slash: letters, digits, `-`, `_`, `.`, at least one. */
  segment: string
  /** Without `?`. */
  query: string
  /** False where the client asked for an end, or speaks HTTP/1.0. */
  keepAlive: boolean
  headers: { get(name: string): string | null }
}

/** A POST with its body. */
export interface PostRequest extends RequestHead {
  /** Decoded when it is asked for: many a POST is not for whoever reads its head. */
  body: () => string
}

/** `latin1Slice` takes half the time of `toString`. */
export type Bytes = Buffer & { latin1Slice(start?: number, end?: number): string }

// More than browsers send, and less than anybody may.
const BYTES_MAX = 16 * 1024
const HEADERS_MAX = 64

const [CR, LF, SPACE, TAB, COLON, QUESTION] = [13, 10, 32, 9, 58, 63]
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

const createCharacterTable = (characters: string) => {
  const allowed = new Uint8Array(256)
  for (const character of characters) allowed[character.charCodeAt(0)] = 1
  return allowed
}
const VISIBLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('')
const SEGMENT = createCharacterTable(`${LETTERS}-_.`)
/** What a query keeps as it is when a URL is parsed. */
const QUERY = createCharacterTable(`${LETTERS}-._~!$&()*+,;=:@/?%`)
/** RFC 9110 §5.6.2 */
const TOKEN = createCharacterTable(`${LETTERS}!#$%&'*+-.^_\`|~`)
/** Without the bytes above 127, which have more than one reading. */
const VALUE = createCharacterTable(`${VISIBLE} \t`)

const GET = Buffer.from('GET /')
const POST = Buffer.from('POST /')
const HTTP_1 = Buffer.from(' HTTP/1.')

/** What says that a body follows, or that this is about more than an answer. */
const REFUSED_HEADERS = ['transfer-encoding', 'expect', 'upgrade', 'te', 'trailer', 'http2-settings']

/**
 * @returns a reader with places of its own for what it finds, so that nothing is made anew for each request. It
 * answers null for everything but one whole, plain GET of one path segment that ends where the bytes end.
 */
export function createGetParser(): (bytes: Bytes) => RequestHead | null {
  const read = createReader(GET)
  return (bytes) => {
    const found = read(bytes)
    return found && found.end === bytes.length && found.head.headers.get('content-length') === null
      ? found.head
      : null
  }
}

/** The same for a POST whose body is as long as it says, and all there. */
export function createPostParser(): (bytes: Bytes) => PostRequest | null {
  const read = createReader(POST)
  return (bytes) => {
    const found = read(bytes)
    const length = found?.head.headers.get('content-length')
    if (!found || !length || !/^\d{1,5}$/.test(length) || found.end + Number(length) !== bytes.length)
      return null
    const { end } = found
    return { ...found.head, body: () => decodeBody(bytes, end) }
  }
}

/** As `Request.text` does. */
function decodeBody(bytes: Bytes, from: number): string {
  const text = bytes.toString('utf8', from)
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Everything but the body: `end` is where that begins. */
function createReader(method: Buffer): (bytes: Bytes) => { head: RequestHead; end: number } | null {
  /** Of each header: where its name begins and ends, and its value. */
  const places = new Int32Array(HEADERS_MAX * 4)
  let count = 0
  let source = GET as Bytes

  function get(name: string): string | null {
    let found: string | null = null
    for (let at = 0; at < count * 4; at += 4) {
      if (!isNamed(source, places[at] as number, places[at + 1] as number, name)) continue
      const value = source.latin1Slice(places[at + 2], places[at + 3])
      // As `Headers` does.
      found = found === null ? value : `${found}, ${value}`
    }
    return found
  }

  /** @returns where the line after it begins, or -1 */
  function readHeader(bytes: Buffer, from: number): number {
    let at = from
    while (TOKEN[bytes[at] as number]) at++
    if (at === from || bytes[at] !== COLON || count === HEADERS_MAX) return -1
    const place = count++ * 4
    places[place] = from
    places[place + 1] = at++
    while (bytes[at] === SPACE || bytes[at] === TAB) at++
    places[place + 2] = at
    while (VALUE[bytes[at] as number]) at++
    if (bytes[at] !== CR || bytes[at + 1] !== LF) return -1
    let end = at
    while (end > (places[place + 2] as number) && isBlank(bytes[end - 1])) end--
    places[place + 3] = end
    return at + 2
  }

  /** @returns where the headers and their empty line end, or -1 */
  function readHeaders(bytes: Bytes, from: number): number {
    source = bytes
    count = 0
    let at = from
    while (at < bytes.length) {
      if (bytes[at] === CR) return bytes[at + 1] === LF ? at + 2 : -1
      at = readHeader(bytes, at)
      if (at === -1) return -1
    }
    return -1
  }

  const headers = { get }

  return (bytes) => {
    if (bytes.length > BYTES_MAX || !startsWith(bytes, method, 0)) return null
    let at = method.length
    while (SEGMENT[bytes[at] as number]) at++
    const segmentEnd = at
    if (bytes[at] === QUESTION) while (QUERY[bytes[++at] as number]);
    const queryEnd = at
    const minor = bytes[at + HTTP_1.length]
    if (segmentEnd === method.length || !startsWith(bytes, HTTP_1, at) || (minor !== ONE && minor !== ZERO))
      return null
    at += HTTP_1.length + 1
    const end = bytes[at] === CR && bytes[at + 1] === LF ? readHeaders(bytes, at + 2) : -1
    if (end === -1) return null
    // `.` and `..` are not names but steps, which readers of URLs take away.
    if (bytes[method.length] === DOT && segmentEnd - method.length < 3 && bytes[segmentEnd - 1] === DOT)
      return null
    if (REFUSED_HEADERS.some((name) => get(name) !== null)) return null
    const host = get('host')
    if (host === null ? minor === ONE : host === '' || host.includes(',')) return null
    const connection = get('connection')?.toLowerCase()
    if (connection !== undefined && connection !== 'keep-alive' && connection !== 'close') return null
    const head = {
      segment: bytes.latin1Slice(method.length, segmentEnd),
      query: queryEnd > segmentEnd ? bytes.latin1Slice(segmentEnd + 1, queryEnd) : '',
      keepAlive: minor === ONE && connection !== 'close',
      headers,
    }
    return { head, end }
  }
}

const [ZERO, ONE, DOT] = [48, 49, 46]

const isBlank = (byte: number | undefined) => byte === SPACE || byte === TAB

function startsWith(bytes: Buffer, start: Buffer, at: number): boolean {
  for (let i = 0; i < start.length; i++) if (bytes[at + i] !== start[i]) return false
  return true
}

/** @param name in lower case; only letters have a second case among the characters of a token */
function isNamed(bytes: Buffer, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false
  for (let i = 0; i < name.length; i++) {
    const wanted = name.charCodeAt(i)
    const byte = bytes[start + i] as number
    if (byte !== wanted && !(wanted >= 97 && wanted <= 122 && byte === wanted - 32)) return false
  }
  return true
}
