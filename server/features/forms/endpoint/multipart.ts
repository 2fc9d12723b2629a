// Reads a multipart/form-data body as browsers write it: RFC 7578, with names escaped as in
// https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data. The runtime's own parser
// is not used, because it silently drops parts that it cannot read, and keeps the name `a"b` as `a%22b`.

import { type BodyCharset, findBodyCharset, isCharsetField, readText } from './body-charset.ts'
import type { BodyEntry } from './body-entry.ts'
import { EndpointError, tooLarge } from './endpoint-error.ts'
import { type PartHead, readPartHead, withoutName } from './part-head.ts'

// A name of 256 characters takes up to 2,304 bytes, and the header may also have a file name.
const HEADERS_MAX = 8 * 1024
/** Blanks between a boundary and its line end. Nobody sends any; a line with more of them is content. */
const PADDING_MAX = 1024

const CRLF = '\r\n'
const [LINE_FEED, CARRIAGE_RETURN, SPACE, TAB, DASH] = [0x0a, 0x0d, 0x20, 0x09, 0x2d]

/** A part is a `head`, any number of `content`, and an `end`. The bytes of `content` are a view of the chunk. */
export type MultipartEvent = { head: PartHead } | { content: Buffer } | { end: true }

interface MultipartReader {
  read(chunk: Uint8Array): Generator<MultipartEvent>
  /** The body has ended. @throws EndpointError 400 where it is cut off */
  end(): void
}

interface ReaderState {
  /** A line end, and the delimiter without its optional suffix. */
  lineStart: Buffer
  /** The bytes that are not decided yet: they may be the beginning of a delimiter. */
  rest: Buffer
  /** The number of bytes at the start of `rest` that belong to the delimiter before. */
  skip: number
  place: 'preamble' | 'part' | 'epilogue'
  /** The headers of this part so far; null once they have ended. */
  headers: Buffer | null
}

/** A part that has come whole: a field with its bytes, a file that the form does not take, or one that it takes. */
export interface ReceivedPart {
  head: PartHead
  content: Buffer | { file: 'none' | 'chosen' } | { fileName: string }
}

/** Reads a whole body. @throws EndpointError 400 with a message that names the mistake */
export function* readParts(bytes: Uint8Array, contentType: string): Generator<ReceivedPart> {
  const reader = createMultipartReader(contentType)
  let head: PartHead | undefined
  let content: Buffer[] = []
  for (const event of reader.read(bytes)) {
    if ('head' in event) {
      head = event.head
      content = []
    } else if ('content' in event) content.push(event.content)
    else if (head) yield toPart(head, content)
  }
  reader.end()
}

function toPart(head: PartHead, content: Buffer[]): ReceivedPart {
  if (head.fileName === undefined) return { head, content: Buffer.concat(content) }
  return { head, content: { file: head.fileName === '' && content.length === 0 ? 'none' : 'chosen' } }
}

/** `_charset_` may be the last part (RFC 7578 §4.6). */
export function findPartsCharset(parts: ReceivedPart[], contentType: string): BodyCharset {
  const sent = parts.find(({ head, content }) => isCharsetField(head.name) && Buffer.isBuffer(content))
  const texts = parts.flatMap(({ head, content }) => {
    const name = Buffer.from(head.raw, 'latin1')
    return Buffer.isBuffer(content) && head.encoding === undefined ? [name, content] : [name]
  })
  return findBodyCharset(contentType, sent?.content.toString(), texts)
}

/** @throws EndpointError 400 */
export function* toEntries(parts: ReceivedPart[], charset: BodyCharset): Generator<BodyEntry> {
  for (const { head, content } of parts) {
    const { name } = charset.isLegacy ? readPartHead(head.raw, charset) : head
    if (!Buffer.isBuffer(content)) yield { name, ...content }
    else yield { name, value: readText(content, toPartCharset(head, charset)) }
  }
}

const toPartCharset = ({ encoding }: PartHead, charset: BodyCharset): BodyCharset =>
  encoding === undefined ? charset : { encoding, isLegacy: !encoding.startsWith('utf') }

/** Reads a body as it comes, and keeps no content. @throws EndpointError 400 */
export function createMultipartReader(contentType: string): MultipartReader {
  const boundary = parseBoundary(contentType)
  if (boundary === undefined) {
    throw new EndpointError(
      400,
      'Content-Type has no boundary: let the browser or the HTTP client write this header',
    )
  }
  const state: ReaderState = {
    lineStart: Buffer.from(`${CRLF}--${boundary}`),
    // A delimiter needs a line end before it. The first one may be at the start of the body.
    rest: Buffer.from(CRLF),
    skip: CRLF.length,
    place: 'preamble',
    headers: null,
  }
  return {
    read: (chunk) => readChunk(state, chunk),
    end() {
      if (state.place === 'preamble')
        throw new EndpointError(
          400,
          'The body has no line with the boundary that Content-Type names, or it is cut off',
        )
      if (state.place === 'part')
        throw new EndpointError(400, 'The multipart body is cut off: its last boundary is missing')
    },
  }
}

function parseBoundary(contentType: string): string | undefined {
  const match = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType)
  return match?.[1] ?? match?.[2]
}

function* readChunk(state: ReaderState, chunk: Uint8Array): Generator<MultipartEvent> {
  if (state.place === 'epilogue') return
  const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  let bytes = state.rest.length > 0 ? Buffer.concat([state.rest, view]) : view
  for (;;) {
    const { start, delimiter } = findDelimiter(bytes, state.lineStart)
    if (state.place === 'part' && start > state.skip)
      yield* readContent(state, bytes.subarray(state.skip, start))
    if (!delimiter) {
      state.rest = Buffer.from(bytes.subarray(start))
      state.skip = Math.max(0, state.skip - start)
      return
    }
    if (state.place === 'part') yield endPart(state)
    if (delimiter.last) {
      state.place = 'epilogue'
      return
    }
    state.place = 'part'
    state.headers = Buffer.alloc(0)
    // Search from the line end of this delimiter, to find a part without headers or content too.
    bytes = bytes.subarray(delimiter.end - CRLF.length)
    state.skip = CRLF.length
  }
}

interface Delimiter {
  /** The index after the delimiter's own line end. */
  end: number
  /** It closes the body. */
  last: boolean
}

/** @returns the start of the first delimiter, or of bytes that may become one */
function findDelimiter(bytes: Buffer, lineStart: Buffer): { start: number; delimiter?: Delimiter } {
  for (let at = bytes.indexOf(lineStart); at >= 0; at = bytes.indexOf(lineStart, at + 1)) {
    const delimiter = readDelimiter(bytes, at + lineStart.length)
    if (delimiter === 'undecided') return { start: at }
    if (delimiter) return { start: at, delimiter }
  }
  let at = bytes.indexOf(CARRIAGE_RETURN, Math.max(0, bytes.length - lineStart.length + 1))
  for (; at >= 0; at = bytes.indexOf(CARRIAGE_RETURN, at + 1)) {
    const tail = bytes.subarray(at)
    if (tail.equals(lineStart.subarray(0, tail.length))) return { start: at }
  }
  return { start: bytes.length }
}

/** A boundary is a delimiter where `--`, or blanks and a line end, follow it. Otherwise it is content. */
function readDelimiter(bytes: Buffer, after: number): Delimiter | 'undecided' | undefined {
  if (bytes[after] === DASH) {
    if (after + 1 === bytes.length) return 'undecided'
    return bytes[after + 1] === DASH ? { end: after + 2, last: true } : undefined
  }
  let end = after
  while (bytes[end] === SPACE || bytes[end] === TAB) end++
  if (end - after > PADDING_MAX) return undefined
  const isLineEnd = bytes[end] === CARRIAGE_RETURN && bytes[end + 1] === LINE_FEED
  if (isLineEnd) return { end: end + 2, last: false }
  const mayGoOn = end === bytes.length || (bytes[end] === CARRIAGE_RETURN && end + 1 === bytes.length)
  return mayGoOn ? 'undecided' : undefined
}

function* readContent(state: ReaderState, bytes: Buffer): Generator<MultipartEvent> {
  if (!state.headers) {
    yield { content: bytes }
    return
  }
  const headers = state.headers.length > 0 ? Buffer.concat([state.headers, bytes]) : bytes
  const headersEnd = headers.indexOf(CRLF + CRLF)
  if (headersEnd > HEADERS_MAX || (headersEnd < 0 && headers.length > HEADERS_MAX + 2 * CRLF.length))
    throw tooLarge()
  if (headersEnd < 0) {
    state.headers = Buffer.from(headers)
    return
  }
  state.headers = null
  yield { head: readPartHead(headers.toString('latin1', 0, headersEnd)) }
  const content = headers.subarray(headersEnd + 2 * CRLF.length)
  if (content.length > 0) yield { content }
}

function endPart({ headers }: ReaderState): MultipartEvent {
  if (headers) throw withoutName()
  return { end: true }
}
