// Reads a multipart/form-data body as browsers write it: RFC 7578, with names escaped as in
// https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data. The runtime's own parser
// is not used, because it silently drops parts that it cannot read, and keeps the name `a"b` as `a%22b`.

import type { BodyEntry } from './body-entry.ts'
import { EndpointError, tooLarge } from './endpoint-error.ts'

// A name of 256 characters takes up to 2,304 bytes, and the header may also have a file name.
const HEADERS_MAX = 8 * 1024
/** Blanks between a boundary and its line end. Nobody sends any; a line with more of them is content. */
const PADDING_MAX = 1024

const CRLF = '\r\n'
const [LINE_FEED, CARRIAGE_RETURN, SPACE, TAB, DASH] = [0x0a, 0x0d, 0x20, 0x09, 0x2d]

/** The headers of a part. A part with a `fileName` is a file; a browser names it '' where nothing was chosen. */
export interface PartHead {
  name: string
  fileName: string | undefined
}

/** A part is a `head`, any number of `content`, and an `end`. The bytes of `content` are a view of the chunk. */
export type MultipartEvent = { head: PartHead } | { content: Buffer } | { end: true }

interface MultipartReader {
  read(chunk: Uint8Array): Generator<MultipartEvent>
  /** The body has ended. @throws EndpointError 400 where it is cut off */
  end(): void
}

interface ReaderState {
  /** A line end, and the delimiter without what may follow it. */
  lineStart: Buffer
  /** The bytes that are not decided yet: they may be the beginning of a delimiter. */
  rest: Buffer
  /** The number of bytes at the start of `rest` that belong to the delimiter before. */
  skip: number
  place: 'preamble' | 'part' | 'epilogue'
  /** The headers of this part so far; null once they have ended. */
  headers: Buffer | null
}

/** Reads a whole body. @throws EndpointError 400 with a message that names the mistake */
export function* readMultipart(bytes: Uint8Array, contentType: string): Generator<BodyEntry> {
  const reader = createMultipartReader(contentType)
  let head: PartHead | undefined
  let content: Buffer[] = []
  for (const event of reader.read(bytes)) {
    if ('head' in event) {
      head = event.head
      content = []
    } else if ('content' in event) content.push(event.content)
    else if (head) yield toEntry(head, content)
  }
  reader.end()
}

function toEntry({ name, fileName }: PartHead, content: Buffer[]): BodyEntry {
  if (fileName === undefined) return { name, value: Buffer.concat(content).toString() }
  return { name, file: fileName === '' && content.length === 0 ? 'none' : 'chosen' }
}

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

/** @returns where the first delimiter starts; without one, where the bytes start that may become one */
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
  yield { head: readHead(headers.toString('utf8', 0, headersEnd)) }
  const content = headers.subarray(headersEnd + 2 * CRLF.length)
  if (content.length > 0) yield { content }
}

function endPart({ headers }: ReaderState): MultipartEvent {
  if (headers) throw withoutName()
  return { end: true }
}

const withoutName = () =>
  new EndpointError(400, 'A part of the multipart body has no Content-Disposition: form-data with a name')

function readHead(headers: string): PartHead {
  const disposition = findDisposition(headers)
  const parameters = disposition === undefined ? undefined : readParameters(disposition)
  const name = parameters?.get('name')
  if (name === undefined) throw withoutName()
  return { name, fileName: parameters?.get('filename') ?? parameters?.get('filename*') }
}

/** @returns the parameters of the first Content-Disposition, with the semicolon before them */
function findDisposition(headers: string): string | undefined {
  for (const line of headers.split(CRLF)) {
    const match = /^content-disposition\s*:\s*form-data\s*(?=;)/i.exec(line)
    if (match) return line.slice(match[0].length)
  }
  return undefined
}

// A quote ends the value only before a semicolon or the end, because older clients write `\"` for a quote inside a
// value (browsers write `%22`). The `s` flag lets a name contain U+2028, which is a line end to JavaScript.
const PARAMETER = /\s*;\s*(?:([\w*-]+)\s*=\s*(?:"(.*?)"(?=\s*(?:;|$))|([^\s;"]*))|$)/sy

/** @returns undefined where the header is malformed */
function readParameters(text: string): Map<string, string> | undefined {
  const parameters = new Map<string, string>()
  PARAMETER.lastIndex = 0
  while (PARAMETER.lastIndex < text.trimEnd().length) {
    const match = PARAMETER.exec(text)
    if (!match) return undefined
    const [, key, quoted, plain] = match
    if (key !== undefined && !parameters.has(key.toLowerCase())) {
      parameters.set(key.toLowerCase(), quoted === undefined ? (plain ?? '') : unescapeName(quoted))
    }
  }
  return parameters
}

const ESCAPES: Record<string, string> = { '%22': '"', '%0D': '\r', '%0A': '\n', '\\"': '"' }

const unescapeName = (text: string) =>
  text.replace(/%22|%0D|%0A|\\"/gi, (sequence) => ESCAPES[sequence.toUpperCase()] ?? sequence)
